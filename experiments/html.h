#pragma once

#include <string>
#include <string_view>

#include "transformer/json.h"

namespace transformer {

// Text for HTML, between tags or in a quoted attribute: shown as it is, whatever is in it.
std::string escaped_html(std::string_view text);

// JSON for a <script> element: nothing in it ends the element.
std::string script_json(const Json& json);

}  // namespace transformer
