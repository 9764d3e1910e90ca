#pragma once

// Figures as people read them.

#include <cstdint>
#include <string>

namespace transformer {

std::string with_commas(int64_t count);         // 63,045,632
std::string duration(double seconds);           // 2 h 05 min, 1 min 12 s, 9 s
std::string byte_count(double bytes);           // 3.2 GiB, 24 MiB
std::string in_powers_of_ten(double quantity);  // 1.52e+18

}  // namespace transformer
