#include "experiments/translations.h"

#include "transformer/data/lines.h"
#include "transformer/data/parallel_text.h"
#include "transformer/error.h"
#include "transformer/fields.h"
#include "transformer/files.h"
#include "transformer/fingerprint.h"
#include "transformer/sealed_json.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

constexpr const char* kTranslations = "valid.translations";
constexpr const char* kReferences = "valid.references";
constexpr const char* kFingerprints = "valid.checksums";
constexpr const char* kModel = "model.safetensors";

struct Fingerprints {
  std::string translations, references;
  std::string model;  // that made them; empty where none is known

  static void visit(auto& self, auto&& field) {
    field(kTranslations, self.translations);
    field(kReferences, self.references);
    field(kModel, self.model);
  }
};

Fingerprints read_fingerprints(const fs::path& run) {
  const fs::path file = run / kFingerprints;
  return from_json<Fingerprints>(read_sealed(file), file.string());
}

// Returns the file's fingerprint.
std::string write_sentences(const fs::path& file, const std::vector<std::string>& lines) {
  std::string bytes;
  for (const auto& line : lines) {
    // A line end inside would make two of one; BLEU takes both for a space.
    for (const char c : line) bytes += c == '\n' || c == '\r' ? ' ' : c;
    bytes += '\n';
  }
  write_file(file, bytes);
  return fingerprint(bytes);
}

// Of one file against the fingerprint that is stated of it; empty where nothing is wrong.
std::string damage_of_sentences(const fs::path& file, const std::string& stated) {
  if (!fs::exists(file)) return file.string() + ": is missing";
  const bool is_sound = stated == fingerprint(read_file(file));
  return is_sound ? "" : file.string() + ": damaged: it is not what was written";
}

bool is_of_earlier_version(const fs::path& run) {
  const auto path = run / "metrics.jsonl";
  std::string line;
  return fs::exists(path) && LineReader(path.string()).next(line) &&
         line.find("\"checksum\"") == std::string::npos;
}

}  // namespace

void write_translations(const fs::path& run, const Translations& translations,
                        const std::string& model) {
  const auto hypotheses = write_sentences(run / kTranslations, translations.hypotheses);
  const auto references = write_sentences(run / kReferences, translations.references);
  write_sealed(run / kFingerprints, to_json(Fingerprints{hypotheses, references, model}));
}

void write_model_checksum(const fs::path& run, const std::string& model) {
  write_sealed(run / kFingerprints, to_json(Fingerprints{"", "", model}));
}

std::string model_of_figures(const fs::path& run) {
  try {
    return read_fingerprints(run).model;
  } catch (const UserError&) {  // told of as damage_of_translations
    return "";
  }
}

std::vector<std::string> damage_of_translations(const fs::path& run) {
  const auto is_there = [&](const char* name) { return fs::exists(run / name); };
  if (!is_there(kTranslations) && !is_there(kReferences) && !is_there(kFingerprints)) return {};
  if (!is_there(kFingerprints) && is_of_earlier_version(run)) return {};
  if (!is_there(kFingerprints)) return {(run / kFingerprints).string() + ": is missing"};
  std::vector<std::string> damage;
  try {
    const auto stated = read_fingerprints(run);
    for (const auto& [name, sound] :
         {std::pair{kTranslations, stated.translations}, {kReferences, stated.references}}) {
      if (sound.empty()) continue;  // of a model that does not translate
      if (auto each = damage_of_sentences(run / name, sound); !each.empty()) {
        damage.push_back(std::move(each));
      }
    }
  } catch (const UserError& error) {
    damage.emplace_back(error.what());
  }
  return damage;
}

std::optional<Translations> read_translations(const fs::path& run) {
  if (!fs::exists(run / kTranslations) || !fs::exists(run / kReferences)) return std::nullopt;
  if (fs::exists(run / kFingerprints)) {  // earlier versions wrote none
    if (const auto damage = damage_of_translations(run); !damage.empty()) {
      throw Damaged(damage.front());
    }
  }
  return Translations{read_lines(run / kTranslations), read_lines(run / kReferences)};
}

}  // namespace transformer
