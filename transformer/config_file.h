#pragma once

#include <filesystem>

#include "transformer/json.h"

namespace transformer {

// The JSON of a config or sweep file. Throws UserError as read_json does, and sooner where the file
// is too large to be one: parsed, JSON takes many times its size.
Json read_config_file(const std::filesystem::path& path);

}  // namespace transformer
