#include "tools/status_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "transformer/printable.h"

namespace transformer {

namespace {

constexpr auto kPlainLineEvery = std::chrono::seconds(10);

// Longer lines would wrap, and more of them scroll away: neither could be written over.
struct TerminalSize {
  size_t columns = 80, rows = 24;
};
TerminalSize terminal_size() {
  winsize size{};
  const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
  return is_known && size.ws_col > 0 && size.ws_row > 0 ? TerminalSize{size.ws_col, size.ws_row}
                                                        : TerminalSize{};
}

// So many columns of a line of ours, which is ASCII, with its colours, which take none.
std::string cut_to(const std::string& line, size_t columns) {
  std::string cut;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      const size_t end = std::min(line.find('m', i), line.size() - 1);
      cut += line.substr(i, end - i + 1);
      i = end;
    } else if (columns > 0) {
      cut += line[i];
      --columns;
    }
  }
  return cut;
}

}  // namespace

StatusLine::StatusLine()
    : is_terminal_(isatty(STDERR_FILENO) == 1),
      has_colour_(is_terminal_ && std::getenv("NO_COLOR") == nullptr),
      last_(std::chrono::steady_clock::now() - kPlainLineEvery) {}

StatusLine::~StatusLine() {
  if (shown_ > 0) std::cerr << "\n";
}

void StatusLine::update(const std::string& text) { update(std::vector{text}); }

void StatusLine::update(const std::vector<std::string>& lines) {
  if (is_terminal_) {
    const auto [columns, rows] = terminal_size();
    take_back();
    const size_t most = std::max<size_t>(rows, 2) - 1;
    for (; shown_ < std::min(lines.size(), most); ++shown_) {
      std::cerr << (shown_ == 0 ? "" : "\n") << cut_to(lines[shown_], columns - 1);
    }
    std::cerr << std::flush;
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < kPlainLineEvery) return;
  last_ = now;
  for (size_t i = 0; i < lines.size(); ++i) std::cerr << (i == 0 ? "" : " | ") << lines[i];
  std::cerr << std::endl;
}

void StatusLine::take_back() {
  for (; shown_ > 1; --shown_) std::cerr << "\r\x1b[K\x1b[A";
  if (shown_ == 1) std::cerr << "\r\x1b[K";
  shown_ = 0;
}

void StatusLine::say(const std::string& text) {
  take_back();
  constexpr size_t kMost = 4000;
  std::cerr << printable(text, kMost) << std::endl;
}

std::string StatusLine::bar(double part) const {
  const double shown = std::clamp(part, 0.0, 1.0);
  char percent[8];
  std::snprintf(percent, sizeof percent, "%3.0f%%", 100 * shown);
  if (!is_terminal_) return percent;
  constexpr size_t kWidth = 20;
  const auto done = static_cast<size_t>(std::lround(shown * kWidth));
  std::string bar = std::string(done, '#') + std::string(kWidth - done, '.');
  if (has_colour_) bar = "\x1b[32m" + bar + "\x1b[0m";
  return "[" + bar + "] " + percent;
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  const auto whole = static_cast<long long>(std::llround(std::max(0.0, seconds)));
  char text[48];
  if (whole < 60) {
    std::snprintf(text, sizeof text, "%lld s", whole);
  } else if (whole < 3600) {
    std::snprintf(text, sizeof text, "%lld min %02lld s", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%lld h %02lld min", whole / 3600, whole % 3600 / 60);
  }
  return text;
}

std::string grouped(int64_t number) {
  std::string digits = std::to_string(number < 0 ? -number : number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return (number < 0 ? "-" : "") + digits;
}

}  // namespace transformer
