#include "transformer/json.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
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

// Builds the value as the library would, but in time that grows with the text alone: to add to an
// object the library looks through all its keys.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(const std::string& text, const std::string& where) : text_(text), where_(where) {}

  Json result() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(std::move(value)); }  // JSON has none
  bool start_object(size_t) override {
    keys_.emplace_back();
    return open(Json::object());
  }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_object() override {
    keys_.pop_back();
    return end_array();
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }

  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) {
      throw UserError(where_ + ": the key " + fields::shown(name) + " is given twice");
    }
    open_.back()->get_ref<Json::object_t&>().emplace_back(std::move(name), Json());
    return true;
  }

  bool parse_error(size_t byte, const std::string&,
                   const nlohmann::detail::exception& error) override {
    constexpr int kOutOfRange = 406;  // the library's number for it
    if (error.id == kOutOfRange) {
      throw UserError(where_ + ": not JSON that can be read: a number in it is too large");
    }
    throw UserError(where_ + ": not JSON: " + position(text_, std::max<size_t>(byte, 1)));
  }

 private:
  Json& put(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& parent = *open_.back();
    if (parent.is_array()) return parent.emplace_back(std::move(value));
    Json& member = parent.get_ref<Json::object_t&>().back().second;
    return member = std::move(value);
  }

  bool add(Json value) {
    put(std::move(value));
    return true;
  }

  bool open(Json empty) {
    // Values are copied, compared and written by recursion: bounded, for hostile files.
    constexpr size_t kDeepest = 100;
    if (open_.size() == kDeepest) throw UserError(where_ + ": values nested more than 100 deep");
    open_.push_back(&put(std::move(empty)));
    return true;
  }

  const std::string& text_;
  const std::string& where_;
  Json root_;
  std::vector<Json*> open_;  // from the outermost on; each the last child of the one before
  std::vector<std::unordered_set<std::string>> keys_;  // of each open object
};

}  // namespace

Json parse_json(const std::string& text, const std::string& where) {
  // To the parser a NUL would be the end of the text, and what follows it would go unseen.
  if (const size_t nul = text.find('\0'); nul != std::string::npos) {
    throw UserError(where + ": not JSON: " + position(text, nul + 1));
  }
  Builder builder(text, where);
  Json::sax_parse(text, &builder);
  return builder.result();
}

std::optional<Json> json_in(const std::string& text) {
  try {
    return parse_json(text, "");
  } catch (const UserError&) {
    return std::nullopt;
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
