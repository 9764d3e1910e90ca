#include "transformer/config_file.h"

#include "transformer/files.h"
#include "transformer/sealed_json.h"

namespace transformer {

Json read_config_file(const std::filesystem::path& path) {
  constexpr size_t kMost = size_t{16} << 20;
  try {
    return read_sealed(read_file(path, kMost), shown_path(path), Seal::where_there_is_one);
  } catch (const Damaged& damage) {
    throw Damaged(std::string(damage.what()) +
                  " (one that was changed by hand: without its checksum)");
  }
}

}  // namespace transformer
