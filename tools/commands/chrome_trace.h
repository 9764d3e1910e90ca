#pragma once

#include <string>

namespace transformer {

// While one lives, LibTorch's profiler records every operation; at its end they are written as a
// trace that Chrome (chrome://tracing) and Perfetto open. Slows what it records. One at a time.
class ChromeTrace {
 public:
  // Throws Failure where the file cannot be written: rather now than at the end.
  explicit ChromeTrace(std::string file, bool with_cuda);
  ~ChromeTrace();
  ChromeTrace(const ChromeTrace&) = delete;
  ChromeTrace& operator=(const ChromeTrace&) = delete;

 private:
  std::string file_;
};

}  // namespace transformer
