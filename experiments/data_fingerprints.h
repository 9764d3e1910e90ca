#pragma once

// Which data a sweep's runs read: text and vocabularies, by the fingerprints of their files.

#include <map>
#include <optional>
#include <string>

#include "experiments/sweep.h"

namespace transformer {

class DataFingerprints {
 public:
  // Of the files that the rows' configs name for training and validation. Some may not be there
  // yet, as a vocabulary that the first run learns.
  explicit DataFingerprints(const Sweep& sweep);

  bool look_again();  // for those that were not there; true where one was found

  Json to_json() const;  // {"data/train.en": "5f0c...", "data/vocabulary.model": null}

 private:
  std::map<std::string, std::optional<std::string>> files_;
};

}  // namespace transformer
