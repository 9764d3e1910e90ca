#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace transformer {

using Curve = std::vector<std::pair<int64_t, double>>;  // (step, value), in order

// Of every line of a metrics.jsonl that has `key`, thinned to about `most` with the last one kept.
// Lines that cannot be read are left out; no file gives no points.
Curve learning_curve(const std::filesystem::path& metrics, const std::string& key,
                     size_t most = 200);

// The same of a file that grows: each look reads what was added since the one before, and all of it
// where the file is another one by now.
class GrowingCurves {
 public:
  GrowingCurves(std::filesystem::path metrics, const std::vector<std::string>& keys);

  // Returns whether anything has changed.
  bool look();
  Curve curve(const std::string& key, size_t most = 200) const;  // empty for a key not asked for

 private:
  void add_line(const std::string& line);

  std::filesystem::path metrics_;
  std::map<std::string, Curve> curves_;
  uint64_t file_ = 0;  // its inode
  int64_t read_ = 0;   // bytes of whole lines
};

}  // namespace transformer
