#include "tools/signals.h"

#include <unistd.h>

#include <csignal>

namespace transformer {

namespace {

std::atomic<bool> stop{false};
std::atomic<int> signal_seen{0};

extern "C" void on_signal(int number) {
  if (stop.exchange(true)) _exit(128 + number);
  signal_seen = number;
}

}  // namespace

const std::atomic<bool>& stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return stop;
}

int exit_code_of_signal() { return signal_seen == 0 ? 0 : 128 + signal_seen; }

}  // namespace transformer
