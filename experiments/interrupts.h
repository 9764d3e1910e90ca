#pragma once

namespace transformer {

// While one lives, SIGINT and SIGTERM are counted instead of ending the process. One at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  int count() const;
  int signal() const;  // the first one; 0 where none came
};

}  // namespace transformer
