#include "experiments/interrupts.h"

#include <csignal>

namespace transformer {

namespace {

volatile std::sig_atomic_t interrupts = 0;
volatile std::sig_atomic_t first = 0;
struct sigaction before_int, before_term;

void note(int signal) {
  if (interrupts == 0) first = signal;
  interrupts = interrupts + 1;
}

}  // namespace

Interrupts::Interrupts() {
  interrupts = 0;
  first = 0;
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

int Interrupts::count() const { return interrupts; }

int Interrupts::signal() const { return first; }

}  // namespace transformer
