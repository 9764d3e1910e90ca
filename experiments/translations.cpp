#include "experiments/translations.h"

#include "transformer/data/parallel_text.h"
#include "transformer/files.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

constexpr const char* kTranslations = "valid.translations";
constexpr const char* kReferences = "valid.references";

void write_lines(const fs::path& file, const std::vector<std::string>& lines) {
  write_file(file, [&](std::ostream& out) {
    for (const auto& line : lines) {
      // A line end inside would make two of one; BLEU takes both for a space.
      for (const char c : line) out << (c == '\n' || c == '\r' ? ' ' : c);
      out << '\n';
    }
  });
}

}  // namespace

void write_translations(const fs::path& run, const Translations& translations) {
  write_lines(run / kTranslations, translations.hypotheses);
  write_lines(run / kReferences, translations.references);
}

std::optional<Translations> read_translations(const fs::path& run) {
  if (!fs::exists(run / kTranslations) || !fs::exists(run / kReferences)) return std::nullopt;
  return Translations{read_lines(run / kTranslations), read_lines(run / kReferences)};
}

}  // namespace transformer
