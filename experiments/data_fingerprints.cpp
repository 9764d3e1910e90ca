#include "experiments/data_fingerprints.h"

#include <vector>

#include "transformer/data/lines.h"
#include "transformer/error.h"

namespace transformer {

namespace {

std::vector<std::string> files_of(const DataConfig& data) {
  std::vector<std::string> files{data.vocabulary, data.source_vocabulary};
  std::vector<std::string> prefixes = data.train;
  prefixes.push_back(data.valid);
  for (const auto& prefix : prefixes) {
    if (prefix.empty()) continue;
    files.push_back(prefix + "." + data.source_language);
    files.push_back(prefix + "." + data.target_language);
  }
  std::erase(files, "");
  return files;
}

// None of a file that is not there or cannot be read: the run that needs it says so.
std::optional<std::string> fingerprint_of(const std::string& file) {
  try {
    return scan_text(file).fingerprint;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

}  // namespace

DataFingerprints::DataFingerprints(const Sweep& sweep) {
  for (const auto& row : sweep.rows) {
    for (const auto& file : files_of(row.config.data)) files_.emplace(file, std::nullopt);
  }
  look_again();
}

bool DataFingerprints::look_again() {
  bool found = false;
  for (auto& [file, fingerprint] : files_) {
    if (fingerprint) continue;
    fingerprint = fingerprint_of(file);
    found = found || fingerprint;
  }
  return found;
}

Json DataFingerprints::to_json() const {
  Json json = Json::object();
  for (const auto& [file, fingerprint] : files_) {
    json[file] = fingerprint ? Json(*fingerprint) : Json();
  }
  return json;
}

}  // namespace transformer
