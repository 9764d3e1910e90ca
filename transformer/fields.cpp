#include "transformer/fields.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "transformer/printable.h"
#include "transformer/utf8.h"

namespace transformer {

namespace {

// Levenshtein: the fewest insertions, deletions and substitutions that turn one into the other.
size_t edit_distance(const std::string& from, const std::string& to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= from.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      const size_t substituted = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

[[noreturn]] void refuse(const std::string& where, const std::string& expected, const Json& json) {
  throw UserError(where + ": expected " + expected + "; got " + fields::shown(json));
}

}  // namespace

namespace {

std::string last_part(const std::string& key) { return key.substr(key.rfind('.') + 1); }

std::string joined(const std::vector<std::string>& all, const std::string& between) {
  std::string text;
  for (const auto& one : all) text += (text.empty() ? "" : between) + one;
  return text;
}

std::vector<std::string> those(const std::vector<std::string>& known, const auto& fits) {
  std::vector<std::string> found;
  std::copy_if(known.begin(), known.end(), std::back_inserter(found), fits);
  return found;
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// h, where model.h is meant; a key in the wrong section; one in other letters' case; the beginning
// of one.
std::vector<std::string> meant_by(const std::string& key, const std::vector<std::string>& known) {
  const std::string last = last_part(key);
  if (last.empty()) return {};
  const auto named = those(known, [&](const auto& one) { return last_part(one) == last; });
  if (!named.empty()) return named;
  const auto alike = those(known, [folded = lower_case(last)](const auto& one) {
    return lower_case(last_part(one)) == folded;
  });
  if (!alike.empty()) return alike;
  constexpr size_t kShortest = 3;
  constexpr size_t kMost = 3;
  if (last.size() < kShortest) return {};
  const auto begun = those(known, [&](const auto& one) {
    return one.starts_with(key) || (key == last && last_part(one).starts_with(last));
  });
  return begun.size() <= kMost ? begun : std::vector<std::string>();
}

}  // namespace

std::string nearest_key(const std::string& key, const std::vector<std::string>& known) {
  constexpr size_t kLongest = 200;  // keys come from files: no quadratic work on a megabyte
  if (const auto meant = meant_by(key, known); !meant.empty()) {
    return "; did you mean " + joined(meant, " or ") + "?";
  }
  std::string nearest;
  size_t distance = std::numeric_limits<size_t>::max();
  for (const auto& candidate : known) {
    if (key.size() > kLongest) break;
    const size_t d = edit_distance(key, candidate);
    if (d < distance) {
      distance = d;
      nearest = candidate;
    }
  }
  if (distance <= std::max<size_t>(2, last_part(key).size() / 3)) {
    return "; did you mean " + nearest + "?";
  }
  const auto section = those(known, [&](const auto& one) {
    const size_t dot = key.find('.');
    return dot != std::string::npos && one.starts_with(key.substr(0, dot + 1));
  });
  return "; known: " + joined(section.empty() ? known : section, ", ");
}

namespace fields {

std::string join(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

std::string shown(const Json& json) { return printable(text_of(json)); }

std::string shown_name(const std::string& name) {
  return name.empty() || printable(name) != name ? shown(name) : name;
}

void read(bool& value, const Json& json, const std::string& where) {
  if (!json.is_boolean()) refuse(where, "true or false", json);
  value = json.get<bool>();
}

void read(int64_t& value, const Json& json, const std::string& where) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!json.is_number_integer() || (json.is_number_unsigned() && json.get<uint64_t>() > kMost)) {
    refuse(where, "an integer", json);
  }
  value = json.get<int64_t>();
}

void read(double& value, const Json& json, const std::string& where) {
  if (!json.is_number() || !std::isfinite(json.get<double>())) refuse(where, "a number", json);
  value = json.get<double>();
}

void read(std::string& value, const Json& json, const std::string& where) {
  if (!json.is_string()) refuse(where, "a string", json);
  const auto& text = json.get_ref<const std::string&>();
  if (!is_utf8(text)) {  // JSON has no other; a path may have
    throw UserError(where + ": expected UTF-8; got \"" + printable(text) + "\"");
  }
  // The system ends a path there: what was checked would not be what is opened.
  if (text.find('\0') != std::string::npos) refuse(where, "text without a NUL", json);
  value = text;
}

void read(std::vector<std::string>& value, const Json& json, const std::string& where) {
  if (json.is_string()) {  // one where several may stand
    std::string one;
    read(one, json, where);
    value = {std::move(one)};
    return;
  }
  if (!json.is_array()) refuse(where, "a list of strings", json);
  std::vector<std::string> all(json.size());
  for (size_t i = 0; i < all.size(); ++i) {
    read(all[i], json[i], where + "[" + std::to_string(i) + "]");
  }
  value = std::move(all);
}

void read(std::vector<int64_t>& value, const Json& json, const std::string& where) {
  if (!json.is_array()) refuse(where, "a list of integers", json);
  std::vector<int64_t> all(json.size());
  for (size_t i = 0; i < all.size(); ++i) {
    read(all[i], json[i], where + "[" + std::to_string(i) + "]");
  }
  value = std::move(all);
}

void read(Derived& value, const Json& json, const std::string& where) {
  if (json.is_null()) {
    value = Derived();
    return;
  }
  int64_t stated = 0;
  read(stated, json, where);
  value = stated;
}

void read(std::optional<double>& value, const Json& json, const std::string& where) {
  value.reset();
  if (!json.is_null()) read(value.emplace(), json, where);
}

void read(Json& value, const Json& json, const std::string&) { value = json; }

}  // namespace fields

std::string both_values(const Difference& difference) {
  return difference.key + ": " + fields::shown(difference.there) + " there; " +
         fields::shown(difference.now) + " now";
}

Json override_value(const std::string& text) { return json_in(text).value_or(Json(text)); }

}  // namespace transformer
