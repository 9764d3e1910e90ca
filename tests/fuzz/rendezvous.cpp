#include "transformer/train/rendezvous.h"

#include <algorithm>

#include "tests/fuzz/targets.h"
#include "tests/rendezvous_environment.h"

namespace transformer::fuzz {

void rendezvous(const std::string& bytes) {
  std::map<std::string, std::string> values;
  for (const auto& word : words_of(bytes)) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (equals == std::string::npos || std::ranges::count(kRendezvousVariables, name) == 0)
      continue;
    values[name] = word.substr(equals + 1);
  }
  const RendezvousEnvironment environment(values);
  if (const auto place = rendezvous_of_environment()) {
    promise(place->ranks > 1 && place->rank >= 0 && place->rank < place->ranks &&
                place->local_rank >= 0 && place->local_rank < place->ranks,
            "a rank is one of so many");
    promise(!place->address.empty() && place->port > 0 && place->port < 65536,
            "rank 0 has an address");
  }
}

}  // namespace transformer::fuzz
