#include "experiments/translation_samples.h"

#include <algorithm>
#include <optional>

#include "experiments/translations.h"
#include "transformer/error.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

std::optional<Translations> first_translations(const RowSummary& row, const fs::path& folder) {
  for (const auto& run : row.runs) {
    if (!run.result) continue;
    try {
      const auto kept = read_translations(run_folder_in(folder, row.row.id, run.seed));
      if (kept && kept->hypotheses.size() == kept->references.size()) return kept;
    } catch (const UserError&) {  // damaged: as if there were none
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<TranslationSample> translation_samples(const Summary& summary, const fs::path& folder,
                                                   size_t count) {
  std::vector<TranslationSample> samples;
  std::vector<std::string> references;
  for (const auto& row : summary.rows) {
    const auto kept = first_translations(row, folder);
    if (!kept || kept->references.empty()) continue;
    if (references.empty()) {
      references = kept->references;
      const size_t shown = std::min(count, references.size());
      for (size_t i = 0; i < shown; ++i) {
        const size_t line = i * references.size() / shown;
        samples.push_back({line + 1, references[line], {}});
      }
    }
    if (kept->references != references) continue;
    for (auto& sample : samples) {
      sample.translations.emplace_back(row.row.id, kept->hypotheses[sample.line - 1]);
    }
  }
  return samples;
}

}  // namespace transformer
