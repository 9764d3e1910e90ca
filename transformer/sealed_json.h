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

}  // namespace transformer
