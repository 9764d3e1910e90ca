#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace transformer {

// The numbers of the cores that this process may use, in order.
std::vector<int64_t> usable_cores();

// Keeps this process, and the threads that it starts from now on, on these cores. Throws UserError
// where it may not use one of them.
void use_cores(const std::vector<int64_t>& cores);

// What each of `jobs` runs of `threads` threads gets, where together they take every core; else
// nothing, for others may be at work on the machine: the system places them better.
std::vector<std::vector<int64_t>> shares_of(const std::vector<int64_t>& cores, int64_t jobs,
                                            int64_t threads);

// "0,1,4", and back. Throws UserError with `where`; the numbers are those of `what`.
std::string listed_cores(const std::vector<int64_t>& cores);
std::vector<int64_t> read_numbers(const std::string& text, const std::string& where,
                                  const char* what);

}  // namespace transformer
