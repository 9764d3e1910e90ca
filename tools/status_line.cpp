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

// Longer lines would wrap and could not be written over.
size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

StatusLine::StatusLine()
    : is_terminal_(isatty(STDERR_FILENO) == 1),
      has_colour_(is_terminal_ && std::getenv("NO_COLOR") == nullptr),
      last_(std::chrono::steady_clock::now() - kPlainLineEvery) {}

StatusLine::~StatusLine() {
  if (is_shown_) std::cerr << "\n";
}

void StatusLine::update(const std::string& text) {
  if (is_terminal_) {
    std::cerr << "\r\x1b[K" << text.substr(0, terminal_columns() - 1) << std::flush;
    is_shown_ = true;
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < kPlainLineEvery) return;
  last_ = now;
  std::cerr << text << std::endl;
}

void StatusLine::say(const std::string& text) {
  if (is_shown_) std::cerr << "\r\x1b[K";
  is_shown_ = false;
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
