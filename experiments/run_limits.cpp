#include "experiments/run_limits.h"

#include <algorithm>
#include <charconv>

#include "transformer/error.h"
#include "transformer/fields.h"
#include "transformer/folder_lock.h"

namespace transformer {

using std::chrono::seconds;
using std::chrono::system_clock;

Overdue overdue(const RunLimits& limits, const std::filesystem::path& run,
                system_clock::time_point start, system_clock::time_point now) {
  if (limits.time > seconds(0) && now - start > limits.time) return Overdue::time;
  if (limits.silence == seconds(0)) return Overdue::no;
  const auto last = std::max(start, last_touched(run).value_or(start));
  return now - last > limits.silence ? Overdue::silence : Overdue::no;
}

std::string shown(Overdue overdue, const RunLimits& limits) {
  switch (overdue) {
    case Overdue::no:
      return "";
    case Overdue::time:
      return "ended after its time limit of " + std::to_string(limits.time.count()) + " s";
    case Overdue::silence:
      return "stuck: no sign of life for " + std::to_string(limits.silence.count()) + " s";
  }
  return "";
}

seconds read_duration(const std::string& text, const std::string& where) {
  constexpr int64_t kMost = 1'000'000;
  int64_t count = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, count);
  const std::string unit(end, last);
  const int64_t each = unit == "s"   ? 1
                       : unit == "m" ? 60
                       : unit == "h" ? 3600
                       : unit == "d" ? 86400
                                     : 0;
  if (error != std::errc() || each == 0 || count < 1 || count > kMost) {
    throw UserError(where + ": expected a time with its unit, such as 90s, 15m, 2h or 1d; got " +
                    fields::shown_name(text));
  }
  return seconds(count * each);
}

}  // namespace transformer
