#include "tests/fuzz/targets.h"

#include <stdexcept>

#include "tests/temporary_folder.h"
#include "transformer/error.h"

namespace transformer::fuzz {

bool accepts(const Target& target, const std::string& bytes) {
  try {
    target.read(bytes);
    return true;
  } catch (const UserError&) {
  } catch (const Failure&) {
  }
  return false;
}

std::filesystem::path file_with(const std::string& name, const std::string& bytes) {
  static const TemporaryFolder folder;
  const auto path = folder / name;
  put(path, bytes);
  return path;
}

void promise(bool kept, const char* what) {
  if (!kept) throw std::logic_error(what);
}

}  // namespace transformer::fuzz
