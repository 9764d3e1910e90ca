#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace transformer {

// Throws Failure with both sizes unless the file system of `folder` has room for `bytes` more.
// `what` needs them: "checkpoints and model".
void expect_free_space(const std::filesystem::path& folder, int64_t bytes, const std::string& what);

}  // namespace transformer
