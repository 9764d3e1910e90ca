#pragma once

#include <string>

namespace transformer {

// "640 MiB", "12.3 GiB".
std::string byte_count(double bytes);

}  // namespace transformer
