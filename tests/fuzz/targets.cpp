#include "tests/fuzz/targets.h"

#include <sstream>
#include <stdexcept>

#include "tests/temporary_folder.h"

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

std::vector<std::string> words_of(const std::string& bytes) {
  std::vector<std::string> words;
  std::istringstream in(bytes);
  for (std::string line; std::getline(in, line);) words.push_back(line.substr(0, line.find('\0')));
  return words;
}

Json object_in(const std::string& bytes) {
  Json json = parse_json(bytes, "input");
  if (!json.is_object()) throw UserError("input: expected an object");
  return json;
}

void promise(bool kept, const char* what) {
  if (!kept) throw std::logic_error(what);
}

}  // namespace transformer::fuzz
