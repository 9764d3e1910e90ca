#pragma once

// A config is a plain struct that lists its fields once, in `visit`. From that list come strict
// reading, writing, the known keys, error messages and command-line overrides.
//
//   struct TrainingConfig {
//     double eps_ls = 0.1;
//     static void visit(auto& self, auto&& field) { field("eps_ls", self.eps_ls); }
//   };
//
// An enum lists its names in order of its enumerators, found by argument-dependent lookup:
//   enum class NormPlacement { post, pre };
//   constexpr auto names(NormPlacement) { return std::array{"post", "pre"}; }

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "transformer/error.h"
#include "transformer/json.h"

namespace transformer {

// An integer that follows from other keys unless it is stated: null or absent in JSON.
class Derived {
 public:
  Derived() = default;
  Derived(int64_t value) : value_(value), stated_(true) {}  // NOLINT: d_k = 16 should read so
  operator int64_t() const { return value_; }               // NOLINT
  bool stated() const { return stated_; }
  friend bool operator==(const Derived&, const Derived&) = default;
  friend bool operator==(const Derived& derived, std::integral auto value) {
    return std::cmp_equal(derived.value_, value);
  }

 private:
  int64_t value_ = 0;
  bool stated_ = false;
};

template <class T>
concept Fields = requires(T& value) {
  T::visit(value, [](const char*, auto&) {});
};

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E value) {
  names(value).size();
};

template <NamedEnum E>
std::string name_of(E value) {
  return names(value).at(static_cast<size_t>(value));
}

// "; did you mean d_k?" where a known key is near or ends in this one, else "; known: ..." with all
// of them.
std::string nearest_key(const std::string& key, const std::vector<std::string>& known);

namespace fields {

std::string join(const std::string& path, const std::string& key);
std::string shown(const Json& json);  // one line, cut when long
// A key or an id read from a file: as it stands where that is harmless, else as `shown`.
std::string shown_name(const std::string& name);

void read(bool& value, const Json& json, const std::string& where);
void read(int64_t& value, const Json& json, const std::string& where);
void read(double& value, const Json& json, const std::string& where);
void read(std::string& value, const Json& json, const std::string& where);
void read(std::vector<std::string>& value, const Json& json, const std::string& where);
void read(std::vector<int64_t>& value, const Json& json, const std::string& where);
void read(Derived& value, const Json& json, const std::string& where);
void read(std::optional<double>& value, const Json& json, const std::string& where);  // null: none
void read(Json& value, const Json& json, const std::string& where);

template <NamedEnum E>
void read(E& value, const Json& json, const std::string& where) {
  constexpr auto all = names(E{});
  std::string allowed;
  for (size_t i = 0; i < all.size(); ++i) {
    if (json.is_string() && json.get_ref<const std::string&>() == all[i]) {
      value = static_cast<E>(i);
      return;
    }
    allowed += (i == 0 ? "" : ", ") + std::string(all[i]);
  }
  throw UserError(where + ": " + shown(json) + " is not one of: " + allowed);
}

inline Json write(bool value) { return value; }
inline Json write(int64_t value) { return value; }
inline Json write(double value) { return value; }
inline Json write(const std::string& value) { return value; }
inline Json write(const std::vector<std::string>& value) { return value; }
inline Json write(const std::vector<int64_t>& value) { return value; }
inline Json write(const Derived& value) { return value.stated() ? Json(int64_t{value}) : Json(); }
inline Json write(const std::optional<double>& value) { return value ? Json(*value) : Json(); }
inline Json write(const std::optional<int64_t>& value) { return value ? Json(*value) : Json(); }
inline Json write(const Json& value) { return value; }
template <NamedEnum E>
Json write(E value) {
  return name_of(value);
}

}  // namespace fields

// "model.h", "model.d_k", ... in order.
template <Fields T>
std::vector<std::string> known_keys(const std::string& path = "") {
  std::vector<std::string> keys;
  T value;
  T::visit(value, [&]<class F>(const char* name, F&) {
    if constexpr (Fields<F>) {
      const auto inner = known_keys<F>(fields::join(path, name));
      keys.insert(keys.end(), inner.begin(), inner.end());
    } else {
      keys.push_back(fields::join(path, name));
    }
  });
  return keys;
}

// Sets the fields that `json` has and leaves the others. `file` stands before each message, `path`
// is the key's path so far. Throws UserError.
template <Fields T>
void read_fields(T& value, const Json& json, const std::string& file = "",
                 const std::string& path = "") {
  const std::string where = file.empty() ? "" : file + ": ";
  if (!json.is_object()) {
    throw UserError(where + (path.empty() ? "" : path + ": ") + "expected an object; got " +
                    fields::shown(json));
  }
  std::vector<std::string> names;
  T::visit(value, [&](const char* name, auto&) { names.emplace_back(name); });
  for (const auto& [key, unused] : json.items()) {
    if (std::find(names.begin(), names.end(), key) == names.end()) {
      throw UserError(where + fields::join(path, fields::shown_name(key)) + ": unknown key" +
                      nearest_key(key, names));
    }
  }
  T::visit(value, [&]<class F>(const char* name, F& field) {
    const auto found = json.find(name);
    if (found == json.end()) return;
    const std::string key = fields::join(path, name);
    if constexpr (Fields<F>) {
      read_fields(field, *found, file, key);
    } else {
      fields::read(field, *found, where + key);
    }
  });
}

// A variable and no function, so that a call does not look at nlohmann's own from_json too: version
// 3.11.3 does not compile where it does.
template <Fields T>
inline constexpr auto from_json = [](const Json& json, const std::string& file = "") {
  T value;
  read_fields(value, json, file);
  return value;
};

template <Fields T>
Json to_json(const T& value) {
  Json json = Json::object();
  T::visit(value, [&]<class F>(const char* name, const F& field) {
    if constexpr (Fields<F>) {
      json[name] = to_json(field);
    } else {
      json[name] = fields::write(field);
    }
  });
  return json;
}

// Sets one field by its dotted key: ("model.d_k", 16). Throws UserError; `file` stands before the
// message.
template <Fields T>
void set_field(T& value, const std::string& key, const Json& json, const std::string& file = "") {
  const auto known = known_keys<T>();
  if (std::find(known.begin(), known.end(), key) == known.end()) {
    throw UserError((file.empty() ? "" : file + ": ") + fields::shown_name(key) + ": unknown key" +
                    nearest_key(key, known));
  }
  Json nested = json;
  for (size_t end = key.size(); end != std::string::npos;) {
    const size_t dot = end == 0 ? std::string::npos : key.rfind('.', end - 1);
    const size_t start = dot == std::string::npos ? 0 : dot + 1;
    nested = Json{{key.substr(start, end - start), nested}};
    end = dot;
  }
  read_fields(value, nested, file);
}

// Where two configs differ.
struct Difference {
  std::string key;  // dotted
  Json there;
  Json now;
};

// "training.eps_ls: 0.1 there; 0.2 now"
std::string both_values(const Difference& difference);

// The keys in which two configs differ, in the order of their fields.
template <Fields T>
std::vector<Difference> differences(const T& there, const T& now) {
  const Json left = to_json(there);
  const Json right = to_json(now);
  std::vector<Difference> all;
  for (const auto& key : known_keys<T>()) {
    std::string text = "/" + key;
    std::replace(text.begin(), text.end(), '.', '/');
    const Json::json_pointer pointer(text);
    if (left.at(pointer) != right.at(pointer)) {
      all.push_back({key, left.at(pointer), right.at(pointer)});
    }
  }
  return all;
}

// The value of a command-line override: JSON where it is JSON (16, 0.1, true, null, ["a","b"]),
// else text.
Json override_value(const std::string& text);

}  // namespace transformer
