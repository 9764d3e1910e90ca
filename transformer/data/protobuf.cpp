#include "transformer/data/protobuf.h"

namespace transformer {

namespace {

// Takes a number from the front: seven bits a byte, the lowest first.
std::optional<uint64_t> take_number(std::string_view& bytes) {
  constexpr int kBits = 64;
  uint64_t value = 0;
  for (int shift = 0; shift < kBits && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// Takes what follows a tag whose last three bits are these.
bool take_content(std::string_view& bytes, uint64_t kind, ProtobufField& field) {
  enum : uint64_t { number = 0, eight_bytes = 1, delimited = 2, four_bytes = 5 };
  uint64_t length = 0;
  if (kind == number || kind == delimited) {
    const auto taken = take_number(bytes);
    if (!taken) return false;
    (kind == number ? field.value : length) = *taken;
  } else if (kind == eight_bytes || kind == four_bytes) {
    length = kind == eight_bytes ? 8 : 4;
  } else {
    return false;
  }
  if (length > bytes.size()) return false;
  field.bytes = bytes.substr(0, length);
  bytes.remove_prefix(length);
  return true;
}

}  // namespace

std::optional<std::vector<ProtobufField>> protobuf_fields(std::string_view message) {
  constexpr uint64_t kLargestTag = 0xffffffff;  // readers differ in what they make of a larger one
  std::vector<ProtobufField> fields;
  while (!message.empty()) {
    const auto tag = take_number(message);
    if (!tag || *tag > kLargestTag) return std::nullopt;
    ProtobufField field{.number = *tag >> 3};
    if (!take_content(message, *tag & 7, field)) return std::nullopt;
    fields.push_back(field);
  }
  return fields;
}

}  // namespace transformer
