#include "experiments/interrupts.h"

#include <unistd.h>

#include <csignal>

namespace transformer {

namespace {

std::atomic<bool> came{false};
std::atomic<int> interrupts{0};
std::atomic<int> first{0};
std::atomic<bool> second_ends{false};
struct sigaction before_int, before_term;

extern "C" void note(int signal) {
  if (came && second_ends) _exit(128 + signal);
  if (!came) first = signal;
  ++interrupts;
  came = true;
}

}  // namespace

Interrupts::Interrupts(Second second) {
  came = false;
  interrupts = 0;
  first = 0;
  second_ends = second == Second::ends_the_process;
  struct sigaction action {};
  action.sa_handler = note;  // without SA_RESTART: a wait ends when a signal comes
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &before_int);
  sigaction(SIGTERM, &action, &before_term);
}

Interrupts::~Interrupts() {
  sigaction(SIGINT, &before_int, nullptr);
  sigaction(SIGTERM, &before_term, nullptr);
}

const std::atomic<bool>& Interrupts::asked() const { return came; }

int Interrupts::count() const { return interrupts; }

int Interrupts::signal() const { return first; }

int Interrupts::exit_code() const { return first == 0 ? 0 : 128 + first; }

}  // namespace transformer
