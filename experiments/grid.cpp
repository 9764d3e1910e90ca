#include "experiments/grid.h"

#include <algorithm>

#include "transformer/config.h"
#include "transformer/error.h"
#include "transformer/fingerprint.h"

namespace transformer {

namespace {

// "h" for "model.h", unless another section has such a key too.
std::string short_key(const std::string& key) {
  const std::string last = key.substr(key.rfind('.') + 1);
  const auto known = known_keys<Config>();
  const auto same = [&](const std::string& other) {
    return other.substr(other.rfind('.') + 1) == last;
  };
  return std::count_if(known.begin(), known.end(), same) > 1 ? key : last;
}

std::string shown(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return text_of(value);
}

// Where a character had to go or the text is long, the value's fingerprint keeps the name unique.
std::string safe(const Json& value) {
  constexpr size_t kLongest = 40;
  const std::string text = shown(value);
  std::string name = text.substr(0, kLongest);
  for (char& c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-';
    if (!fits) c = '_';
  }
  return name == text && !name.empty() ? name : name + "_" + fingerprint(text).substr(0, 8);
}

}  // namespace

std::vector<std::string> split_list(const std::string& text, const std::string& where) {
  std::vector<std::string> pieces(1);
  std::string open;  // brackets not yet closed
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\' && i + 1 < text.size()) pieces.back() += text[i++];
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      open += c;
    } else if ((c == ']' || c == '}') && !open.empty()) {
      open.pop_back();
    } else if (c == ',' && open.empty()) {
      pieces.emplace_back();
      continue;
    }
    pieces.back() += text[i];
  }
  if (quoted) throw UserError(where + ": a quote is not closed: " + fields::shown_name(text));
  if (!open.empty())
    throw UserError(where + ": a bracket is not closed: " + fields::shown_name(text));
  const bool gap = std::find(pieces.begin(), pieces.end(), "") != pieces.end();
  if (gap && pieces.size() > 1) {
    throw UserError(where + ": expected a value on both sides of each comma; got " +
                    fields::shown_name(text));
  }
  return pieces;
}

std::vector<Json> product(const std::vector<GridAxis>& axes) {
  std::vector<Json> rows = {Json::object()};
  for (const auto& axis : axes) {
    std::vector<Json> longer;
    for (const auto& row : rows) {
      for (const auto& value : axis.values) {
        longer.push_back(row);
        longer.back()[axis.key] = value;
      }
    }
    rows = std::move(longer);
  }
  return rows;
}

std::string grid_id(const Json& set) {
  std::string id;
  for (const auto& [key, value] : set.items()) {
    id += (id.empty() ? "" : "--") + short_key(key) + "-" + safe(value);
  }
  return id;
}

}  // namespace transformer
