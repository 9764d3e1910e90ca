#include "experiments/interrupts.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace transformer {

namespace {

std::atomic<bool> came{false};
std::atomic<int> interrupts{0};
std::atomic<int> first{0};
std::atomic<bool> has_insisted{false};  // SIGINT or SIGTERM came
std::atomic<bool> second_ends{false};
std::atomic<const char*> announcement{nullptr};
std::atomic<bool> is_terminal{false};  // where a status line may stand before the cursor
constexpr std::array kSignals = {SIGINT, SIGTERM, SIGUSR1};
std::array<struct sigaction, kSignals.size()> handlers_before;

void write_out(const char* text) {
  [[maybe_unused]] const auto unheard = write(STDERR_FILENO, text, std::strlen(text));
}

// Within a signal: system calls only.
void announce_end() {
  const char* text = announcement;
  if (text == nullptr) return;
  const int before = errno;
  write_out(is_terminal ? "\ntransformer: " : "transformer: ");
  write_out(text);
  write_out("\n");
  errno = before;
}

extern "C" void note(int signal) {
  const bool is_second = signal != SIGUSR1 && has_insisted.exchange(true);
  if (is_second && second_ends) _exit(128 + signal);
  if (came && !is_second) return;
  if (!came) {
    first = signal;
    announce_end();
  }
  ++interrupts;
  came = true;
}

}  // namespace

Interrupts::Interrupts(Second second) {
  came = false;
  interrupts = 0;
  first = 0;
  has_insisted = false;
  announcement = nullptr;
  is_terminal = isatty(STDERR_FILENO) == 1;
  second_ends = second == Second::ends_the_process;
  struct sigaction action {};
  action.sa_handler = note;  // without SA_RESTART: a wait ends when a signal comes
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &handlers_before[i]);
}

Interrupts::~Interrupts() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &handlers_before[i], nullptr);
}

void Interrupts::announce(const char* text) const { announcement = text; }

const std::atomic<bool>& Interrupts::asked() const { return came; }

int Interrupts::count() const { return interrupts; }

int Interrupts::signal() const { return first; }

int Interrupts::exit_code() const { return first == 0 ? 0 : 128 + first; }

}  // namespace transformer
