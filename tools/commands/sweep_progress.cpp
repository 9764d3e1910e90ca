#include "tools/commands/sweep_progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "tools/commands/amounts.h"

namespace transformer {

namespace {

constexpr const char* kRed = "31";
constexpr const char* kGreen = "32";
constexpr auto kBetweenPlainLines = std::chrono::seconds(30);

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

SweepProgress::SweepProgress(const Sweep& selected, const std::filesystem::path& folder,
                             std::function<double(const Config&)> work)
    : folder_(folder),
      work_(std::move(work)),
      terminal_(isatty(STDERR_FILENO) != 0),
      colours_(terminal_ && !is_set("NO_COLOR")),
      several_seeds_(selected.seeds.size() > 1),
      runs_(std::ssize(selected.rows) * std::ssize(selected.seeds)) {
  for (const auto& row : selected.rows) {
    whole_work_ += work_(row.config) * static_cast<double>(selected.seeds.size());
  }
}

SweepProgress::~SweepProgress() {
  if (terminal_) std::cerr << "\r\x1b[K" << std::flush;
}

std::string SweepProgress::name(const Run& run) const {
  return run.first + (several_seeds_ ? " seed " + std::to_string(run.second) : "");
}

std::string SweepProgress::painted(const char* colour, const std::string& text) const {
  return colours_ ? "\x1b[" + std::string(colour) + "m" + text + "\x1b[0m" : text;
}

void SweepProgress::operator()(const RunEvent& event) {
  const Run run{event.row.id, event.seed};
  const double work = work_(event.row.config);
  const auto found = running_.find(run);
  const double seconds = found == running_.end() ? 0 : seconds_since(found->second.start);
  switch (event.kind) {
    case RunEvent::Kind::skipped:
      ++done_;
      whole_work_ -= work;
      break;
    case RunEvent::Kind::started:
      running_[run] = {work, event.row.config.training.train_steps, Clock::now(), {}};
      if (!terminal_) say(name(run) + ": started");
      break;
    case RunEvent::Kind::progress:
      running_[run].progress = event.progress;
      break;
    case RunEvent::Kind::finished: {
      running_.erase(run);
      ++done_;
      done_work_ += work;
      const auto result =
          read_result(folder_ / run.first / ("seed-" + std::to_string(run.second)) / "result.json");
      say(painted(kGreen, name(run)) + ": perplexity " + fixed(result.perplexity, 2) + ", BLEU " +
          fixed(result.bleu, 1) + ", " + with_commas(result.parameters) + " parameters, " +
          duration(seconds));
      break;
    }
    case RunEvent::Kind::failed:
      running_.erase(run);
      ++failed_;
      done_work_ += work;
      say(painted(kRed, name(run) + ": failed") + ": " + event.message);
      break;
    case RunEvent::Kind::stopped:
      running_.erase(run);
      say(name(run) + ": stopped");
      break;
  }
  show_status();
}

void SweepProgress::say(const std::string& line) {
  std::cerr << (terminal_ ? "\r\x1b[K" : "") << line << "\n" << std::flush;
}

void SweepProgress::show_status() {
  if (terminal_) {
    std::cerr << "\r\x1b[K" << status().substr(0, terminal_width() - 1) << std::flush;
  } else if (Clock::now() - shown_ >= kBetweenPlainLines) {
    shown_ = Clock::now();
    say(status());
  }
}

std::string SweepProgress::status() const {
  std::string text = std::to_string(done_) + " of " + std::to_string(runs_) + " runs done";
  if (failed_ > 0) text += ", " + std::to_string(failed_) + " failed";
  double work = done_work_;
  for (const auto& [run, state] : running_) {
    const double part =
        static_cast<double>(state.progress.step) / static_cast<double>(state.train_steps);
    work += part * state.work;
    text += " | " + name(run);
    if (state.progress.step == 0) continue;
    text += " step " + std::to_string(state.progress.step) + "/" +
            std::to_string(state.train_steps) + " loss " + fixed(state.progress.loss, 3);
  }
  const double elapsed = seconds_since(start_);
  text += " | " + duration(elapsed);
  if (work > 0.01 * whole_work_ && work < whole_work_) {
    text += ", about " + duration(elapsed * (whole_work_ - work) / work) + " left";
  }
  return text;
}

}  // namespace transformer
