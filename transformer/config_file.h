#pragma once

#include <filesystem>

#include "transformer/json.h"

namespace transformer {

// The JSON of a config or sweep file. Throws UserError as read_json does, and sooner where the file
// is too large to be one: parsed, JSON takes many times its size. One that was written with a
// checksum, as a run's folder keeps it, is held against it.
Json read_config_file(const std::filesystem::path& path);

}  // namespace transformer
