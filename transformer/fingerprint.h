#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace transformer {

// 64 bits of XXH3, as 16 hexadecimal digits: tells whether two configs or files are the same, and finds
// damage. Not a defence against someone who wants two files to look alike.
uint64_t checksum(std::string_view bytes);
std::string fingerprint(std::string_view bytes);
std::string hexadecimal(uint64_t value);

}  // namespace transformer
