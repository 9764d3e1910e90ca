#pragma once

// JSON files of our own with a checksum, so that a flipped digit does not pass for another figure.

#include <filesystem>
#include <stdexcept>
#include <string>

#include "transformer/error.h"
#include "transformer/json.h"

namespace transformer {

// The file is there and is not what was written.
class Damaged : public UserError {
 public:
  using UserError::UserError;
};

// The object with a last key "checksum", of all that stands before it.
Json sealed(Json json);

// What was sealed, without the checksum. Throws Damaged with `where` unless it is an object whose
// checksum holds.
Json unsealed(Json json, const std::string& where);

// A file of one sealed object.
void write_sealed(const std::filesystem::path& path, const Json& json);

// Files of earlier versions, and those written by hand, have no checksum.
enum class Seal { required, where_there_is_one };

// What write_sealed wrote, without the checksum. Throws Damaged where a single bit is another,
// spaces and the spelling of numbers included; with Seal::required also where it cannot be read.
Json read_sealed(const std::filesystem::path& path, Seal seal = Seal::required);
Json read_sealed(const std::string& text, const std::string& where, Seal seal);

}  // namespace transformer
