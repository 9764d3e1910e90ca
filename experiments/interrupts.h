#pragma once

#include <atomic>

namespace transformer {

// While one lives, SIGINT, SIGTERM and SIGUSR1, by which Slurm announces that a job must make way,
// ask for an end instead of making it. One at a time.
class Interrupts {
 public:
  // What a second SIGINT or SIGTERM does; SIGUSR1 does not count, for SIGTERM follows on it by
  // rule.
  enum class Second { is_counted, ends_the_process };
  explicit Interrupts(Second second);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // What the first signal is answered with on standard error from now on. The text outlives this.
  void announce(const char* text) const;

  const std::atomic<bool>& asked() const;  // whether one came
  int count() const;
  int signal() const;  // the first one; 0 where none came
  int exit_code()
      const;  // 130 after SIGINT, 143 after SIGTERM, 138 after SIGUSR1, 0 where none came
};

}  // namespace transformer
