#pragma once

#include <atomic>
#include <exception>

namespace transformer {

// Thrown where a flag asked work to end before it was done. What it was writing is not there.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped"; }
};

// Throws Stopped where the flag is there and asks for it.
inline void heed(const std::atomic<bool>* stop) {
  if (stop != nullptr && *stop) throw Stopped();
}

}  // namespace transformer
