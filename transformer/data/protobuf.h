#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace transformer {

// One field of a protobuf message.
struct ProtobufField {
  uint64_t number = 0;
  uint64_t value = 0;        // of a number
  std::string_view bytes{};  // of a text or a message, within the message's bytes
};

// In their order; nothing where the message is cut, or has what protobuf's present version has not.
std::optional<std::vector<ProtobufField>> protobuf_fields(std::string_view message);

}  // namespace transformer
