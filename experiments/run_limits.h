#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace transformer {

// How long a sweep bears with one of its runs. 0: for ever.
struct RunLimits {
  std::chrono::seconds time{0};  // from its start; it may go on another time
  std::chrono::seconds silence{
      0};  // without a step, a sentence translated, or a word of what it does
};

enum class Overdue { no, time, silence };

// Which limit a run in that folder has gone beyond, if any. It was started at `start`.
Overdue overdue(const RunLimits& limits, const std::filesystem::path& run,
                std::chrono::system_clock::time_point start,
                std::chrono::system_clock::time_point now);

// "ended after its time limit of 7200 s", "stuck: no sign of life for 600 s"
std::string shown(Overdue overdue, const RunLimits& limits);

// "90s", "15m", "2h", "1d"; a number alone is refused, since others read minutes. Throws UserError
// with `where`.
std::chrono::seconds read_duration(const std::string& text, const std::string& where);

}  // namespace transformer
