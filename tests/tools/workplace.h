#pragma once

#include <string>
#include <vector>

#include "tests/temporary_folder.h"
#include "tests/tools/program.h"

// A generated pair and a tiny config on it.
class Workplace {
 public:
  Workplace();

  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  // What the tiny config sets over configs/mini.json, with these overrides.
  std::vector<std::string> settings(const std::vector<std::string>& overrides = {}) const;

  // train configs/mini.json into a folder, with those.
  Outcome train(const std::string& out, const std::vector<std::string>& overrides = {},
                const std::string& before = "") const;

 private:
  TemporaryFolder folder_;
};

// Requires one line on stderr that says this, after whatever was said before, and this exit code.
void refused(const Outcome& outcome, int code, const std::string& message);
