#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace transformer {

// (step, value) of every line of a metrics.jsonl that has `key`, in order, thinned to about `most`
// with the last one kept. Lines that cannot be read are left out; no file gives no points.
std::vector<std::pair<int64_t, double>> learning_curve(const std::filesystem::path& metrics,
                                                       const std::string& key, size_t most = 200);

}  // namespace transformer
