#include "transformer/json.h"

#include <algorithm>
#include <set>
#include <vector>

#include "transformer/error.h"
#include "transformer/fields.h"
#include "transformer/files.h"

namespace transformer {

namespace {

// Of the byte, counted from 1; the parser counts one more where the text ends too early.
std::string position(const std::string& text, size_t byte) {
  const auto at = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte - 1, text.size()));
  const auto line = 1 + std::count(text.begin(), at, '\n');
  const auto start = std::find(std::make_reverse_iterator(at), text.rend(), '\n').base();
  return "line " + std::to_string(line) + ", column " + std::to_string(at - start + 1);
}

}  // namespace

Json parse_json(const std::string& text, const std::string& where) {
  constexpr int kDeepest =
      100;  // the parser recurses when it destroys values: bounded, for hostile files
  std::vector<std::set<std::string>> keys;
  const auto refuse_twice = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > kDeepest) throw UserError(where + ": values nested more than 100 deep");
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      throw UserError(where + ": the key " + fields::shown(value) + " is given twice");
    }
    return true;
  };
  // To the parser a NUL would be the end of the text, and what follows it would go unseen.
  if (const size_t nul = text.find('\0'); nul != std::string::npos) {
    throw UserError(where + ": not JSON: " + position(text, nul + 1));
  }
  try {
    return Json::parse(text, refuse_twice);
  } catch (const Json::parse_error& error) {
    throw UserError(where + ": not JSON: " + position(text, std::max<size_t>(error.byte, 1)));
  } catch (const Json::out_of_range&) {
    throw UserError(where + ": not JSON that can be read: a number in it is too large");
  }
}

Json read_json(const std::filesystem::path& path) {
  return parse_json(read_file(path), path.string());
}

std::string text_of(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

void write_json(const std::filesystem::path& path, const Json& json) {
  write_file(path, text_of(json, 2) + "\n");
}

}  // namespace transformer
