#include "experiments/cores.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <numeric>
#include <sstream>

#include "experiments/machine.h"
#include "transformer/error.h"
#include "transformer/printable.h"

namespace transformer {

std::vector<int64_t> usable_cores() {
  std::vector<int64_t> cores;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int64_t core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(static_cast<size_t>(core), &set)) cores.push_back(core);
    }
    return cores;
  }
  cores.resize(static_cast<size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))));
  std::iota(cores.begin(), cores.end(), int64_t{0});
  return cores;
}

void use_cores(const std::vector<int64_t>& cores) {
  const auto usable = usable_cores();
  for (const int64_t core : cores) {
    if (std::ranges::find(usable, core) != usable.end()) continue;
    throw UserError(
        "core " + std::to_string(core) +
        ": not one of those that this process may use: " + printable(listed_cores(usable), 200));
  }
  this_machine();  // results tell the machine's cores, not this share of them
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int64_t core : cores) CPU_SET(static_cast<size_t>(core), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    throw Failure("cores " + listed_cores(cores) + ": cannot be used: " + std::strerror(errno));
  }
}

std::vector<std::vector<int64_t>> shares_of(const std::vector<int64_t>& cores, int64_t jobs,
                                            int64_t threads) {
  std::vector<std::vector<int64_t>> shares;
  if (jobs < 2 || jobs * threads != std::ssize(cores)) return shares;
  for (auto first = cores.begin(); first != cores.end(); first += threads) {
    shares.emplace_back(first, first + threads);
  }
  return shares;
}

std::string listed_cores(const std::vector<int64_t>& cores) {
  std::string text;
  for (const int64_t core : cores) text += (text.empty() ? "" : ",") + std::to_string(core);
  return text;
}

std::vector<int64_t> read_numbers(const std::string& text, const std::string& where,
                                  const char* what) {
  std::vector<int64_t> cores;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    int64_t core = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), core);
    if (error != std::errc() || end != word.data() + word.size() || core < 0) {
      throw UserError(where + ": expected numbers of " + what + " such as 0,1; got " +
                      printable(text));
    }
    cores.push_back(core);
  }
  return cores;
}

}  // namespace transformer
