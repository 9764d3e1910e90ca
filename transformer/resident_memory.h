#pragma once

// What this process has in memory, libraries and mapped files included.

#include <cstdint>
#include <optional>
#include <string>

namespace transformer {

// "VmRSS" (all of it), "RssAnon" or "RssFile", in bytes; none where the system does not say.
std::optional<int64_t> memory_status(const std::string& name);

// The most it has had at once, since forget_peak where that was called. Of this program alone: what
// getrusage calls the maximum is also that of the program which started it.
int64_t peak_resident_bytes();

// From now on peak_resident_bytes counts; what was freed till then goes back to the system first.
void forget_peak();

}  // namespace transformer
