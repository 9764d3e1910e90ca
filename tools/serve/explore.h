#pragma once

// The quantities of `inspect`, asked for by a page: the same functions, with bounds on what is
// computed.

#include <map>
#include <memory>
#include <string>

#include "transformer/json.h"

namespace transformer {

// What a page asks: keys of a config ("model.h" with "8" or "4,8"), sizes ("n") and options
// ("length").
using Question = std::map<std::string, std::string>;

class Exploration {
 public:
  // Throws UserError on an unknown topic, on keys that name files and on what is too large.
  Exploration(const std::string& topic, const Question& question);
  ~Exploration();
  Exploration(Exploration&&) noexcept;

  bool needs_model() const;  // takes a while
  Json figures() const;      // what `inspect TOPIC --json` prints

 private:
  struct Asked;
  std::unique_ptr<Asked> asked_;
};

// Table 3's rows with what each sets, its parameters and FLOPs, and the base: as `sweep --dry-run
// --json` gives them, without what it finds by measuring: time and memory.
Json table3_figures(const Question& question);

}  // namespace transformer
