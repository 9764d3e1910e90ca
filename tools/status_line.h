#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace transformer {

// What a long command says on stderr while it works. On a terminal the same lines are written over
// and over; elsewhere a plain line goes out now and then, so that a log stays short. Colour, which
// only a terminal gets, is left out where NO_COLOR is set.
class StatusLine {
 public:
  StatusLine();
  ~StatusLine();  // leaves the last state standing
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  // The state of things. Several lines make one where there is no terminal.
  void update(const std::string& text);
  void update(const std::vector<std::string>& lines);
  void say(const std::string& text);  // a line that stays

  // "[#####.....]" on a terminal, "50%" elsewhere.
  std::string bar(double part) const;

 private:
  void take_back();  // what is shown of the state

  bool is_terminal_;
  bool has_colour_;
  size_t shown_ = 0;  // lines of the state
  std::chrono::steady_clock::time_point last_;
};

std::string duration(double seconds);  // "45 s", "3 min 20 s", "2 h 05 min"
std::string grouped(int64_t number);   // "1,234,567"

}  // namespace transformer
