#pragma once

// What there is to be seen under a folder. A page asks for it by the names given here; no path is
// ever made of what it sends.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace transformer {

class KnownRuns {
 public:
  // Throws UserError where `root` is no folder.
  explicit KnownRuns(const std::filesystem::path& root);

  // By its path from the root, "." being the root itself. Links that lead elsewhere are not
  // followed, and what they lead to is not known.
  using Folders = std::map<std::string, std::filesystem::path>;

  struct Found {
    Folders sweeps;        // and runs that belong to none
    Folders models;        // runs with a model, or a checkpoint of one
    bool is_whole = true;  // false where there is more under the root than is looked at
  };
  Found look() const;

 private:
  std::filesystem::path root_;
};

}  // namespace transformer
