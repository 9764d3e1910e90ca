#pragma once

#include <string_view>

namespace transformer {

// The scripts of Vega, Vega-Lite and vega-embed, which were put into the program when it was built.
// Empty where npm was not there.
std::string_view vega_scripts();

}  // namespace transformer
