#include "transformer/config_file.h"

#include "transformer/files.h"

namespace transformer {

Json read_config_file(const std::filesystem::path& path) {
  constexpr size_t kMost = size_t{16} << 20;
  return parse_json(read_file(path, kMost), shown_path(path));
}

}  // namespace transformer
