#include "transformer/data/vocabulary_fault.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "transformer/data/normalisation.h"
#include "transformer/data/protobuf.h"

namespace transformer {

namespace {

// As sentencepiece_model.proto numbers the fields.
enum OfModel : uint64_t { piece_field = 1, normalizer_field = 3, denormalizer_field = 5 };
enum OfPiece : uint64_t { text_field = 1, type_field = 3 };
constexpr uint64_t kCharsmapField = 2;
constexpr uint32_t kUserDefined = 4;

std::string fault_of_normaliser(std::string_view normaliser) {
  const auto fields = protobuf_fields(normaliser);
  if (!fields) return kNoModel;
  for (const auto& field : *fields) {
    if (field.number != kCharsmapField) continue;
    if (auto fault = fault_of_rules(field.bytes); !fault.empty()) return fault;
  }
  return "";
}

// The texts of those of the user's own, as SentencePiece takes them: to the first NUL. Of fields
// that are there more than once, in another form, or as numbers beyond 32 bits, which one counts is
// protobuf's to decide: each does here.
void add_if_user_defined(const std::vector<ProtobufField>& piece,
                         std::vector<std::string_view>& texts) {
  const bool is_own = std::ranges::any_of(piece, [](const ProtobufField& field) {
    return field.number == type_field && static_cast<uint32_t>(field.value) == kUserDefined;
  });
  if (!is_own) return;
  for (const auto& field : piece) {
    if (field.number != text_field || field.bytes.empty()) continue;
    texts.push_back(field.bytes.substr(0, field.bytes.find('\0')));
  }
}

// The most texts of which each begins with the one before.
size_t deepest(std::vector<std::string_view> texts) {
  std::ranges::sort(texts);
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  size_t most = 0;
  std::vector<std::string_view> begun;
  for (const auto& text : texts) {
    while (!begun.empty() && !text.starts_with(begun.back())) begun.pop_back();
    begun.push_back(text);
    most = std::max(most, begun.size());
  }
  return most;
}

}  // namespace

std::string fault_of_vocabulary(std::string_view model) {
  constexpr size_t kMost = 64;  // SentencePiece has no room for more
  const auto fields = protobuf_fields(model);
  if (!fields) return kNoModel;
  std::vector<std::string_view> own;
  for (const auto& field : *fields) {
    if (field.number == normalizer_field || field.number == denormalizer_field) {
      if (auto fault = fault_of_normaliser(field.bytes); !fault.empty()) return fault;
    } else if (field.number == piece_field) {
      const auto piece = protobuf_fields(field.bytes);
      if (!piece) return kNoModel;
      add_if_user_defined(*piece, own);
    }
  }
  if (deepest(std::move(own)) > kMost) return "more than 64 of its pieces begin with one another";
  return "";
}

}  // namespace transformer
