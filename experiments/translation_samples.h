#pragma once

// Sentences of data.valid with what a sweep's rows made of them.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "experiments/summary.h"

namespace transformer {

struct TranslationSample {
  size_t line = 0;  // of the file, from 1
  std::string reference;
  std::vector<std::pair<std::string, std::string>> translations;  // of a row: its first run's
};

// `count` sentences, evenly spaced. Rows without translations kept, with damaged ones, or of
// another data.valid than the first of them, are left out. `folder` is the sweep's.
std::vector<TranslationSample> translation_samples(const Summary& summary,
                                                   const std::filesystem::path& folder,
                                                   size_t count);

}  // namespace transformer
