#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace transformer {

// Keys keep the order in which they are written.
using Json = nlohmann::ordered_json;

// Strict JSON: a key given twice is refused, as is anything after the value, and what is nested
// more than 100 deep. `where` stands before the message. Throws UserError with line and column.
Json parse_json(const std::string& text, const std::string& where);

// The same where what is no JSON is no error, as a line of a log that was cut: nothing.
std::optional<Json> json_in(const std::string& text);

// Throws UserError where the file is missing, unreadable or not JSON.
Json read_json(const std::filesystem::path& path);

// The value as text: on one line, or with `indent` spaces a level. Everything that leaves the
// program goes through it: the library's own dump throws at a string that is not UTF-8, as a path
// or an argument may be; here such bytes are written as U+FFFD.
std::string text_of(const Json& json, int indent = -1);

// Written beside and renamed: a reader sees the old file or the new one, never a part. Throws
// Failure.
void write_json(const std::filesystem::path& path, const Json& json);

}  // namespace transformer
