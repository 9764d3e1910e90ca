#pragma once

#include <optional>

namespace transformer {

// A part that some models have: what `make` makes where it is `there`. For initialiser lists, whose
// order is that of the registered names.
template <class Part>
std::optional<Part> made_where(bool there, const auto& make) {
  return there ? std::optional<Part>(make()) : std::nullopt;
}

}  // namespace transformer
