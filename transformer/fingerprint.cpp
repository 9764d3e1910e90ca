#include "transformer/fingerprint.h"

#include <xxhash.h>

#include <cstdio>
#include <new>

namespace transformer {

uint64_t checksum(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string hexadecimal(uint64_t value) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
  return digits;
}

std::string fingerprint(std::string_view bytes) { return hexadecimal(checksum(bytes)); }

struct Checksum::State {
  XXH3_state_t* hash = XXH3_createState();
  State() {
    if (hash == nullptr) throw std::bad_alloc();
    XXH3_64bits_reset(hash);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { XXH3_freeState(hash); }
};

Checksum::Checksum() : state_(std::make_unique<State>()) {}
Checksum::~Checksum() = default;

void Checksum::add(std::string_view bytes) {
  XXH3_64bits_update(state_->hash, bytes.data(), bytes.size());
}

uint64_t Checksum::value() const { return XXH3_64bits_digest(state_->hash); }

}  // namespace transformer
