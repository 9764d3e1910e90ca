#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace transformer {

// 64 bits of XXH3, as 16 hexadecimal digits: tells whether two configs or files are the same, and
// finds damage. Not a defence against someone who wants two files to look alike.
uint64_t checksum(std::string_view bytes);
std::string fingerprint(std::string_view bytes);
std::string hexadecimal(uint64_t value);

// The same checksum of bytes that come in parts.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;
  void add(std::string_view bytes);
  uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace transformer
