#include "experiments/run_folder.h"

#include <algorithm>

#include "experiments/metrics.h"
#include "experiments/translations.h"
#include "transformer/decode/load.h"
#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/fingerprint.h"
#include "transformer/free_space.h"
#include "transformer/sealed_json.h"
#include "transformer/train/same_training.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

// The steps whose models make the final one: the last, and the multiples of checkpoint_every before
// it, training.average_last in all or as many as there were.
std::vector<int64_t> steps_to_average(const TrainingConfig& training) {
  std::vector<int64_t> steps;
  const int64_t every = training.checkpoint_every;
  for (int64_t step = training.train_steps; step > 0 && std::ssize(steps) < training.average_last;
       step = (step - 1) / every * every) {
    steps.push_back(step);
  }
  return steps;
}

// A config, and the file that has it.
struct Kept {
  Config config;
  fs::path file;
};

std::optional<Kept> config_of_result(const fs::path& folder) {
  const fs::path file = folder / "result.json";
  try {
    const std::string where = file.string();
    return Kept{resolve(from_json<Config>(read_result(file).config, where), where), file};
  } catch (const UserError&) {  // missing, or told of when the result is looked for
    return std::nullopt;
  }
}

// In the newest that can be read.
std::optional<Kept> config_of_checkpoint(const fs::path& folder) {
  const auto folders = checkpoint_folders(folder / "checkpoints");
  for (auto path = folders.rbegin(); path != folders.rend(); ++path) {
    try {
      return Kept{read_model(*path).config, *path};
    } catch (const UserError&) {  // told of when the run goes on
    }
  }
  return std::nullopt;
}

// What the run in the folder began with, and whether its config.json says so too.
struct Begun {
  std::optional<Kept> kept{};
  bool is_in_place = false;
};

Begun begun_with(const fs::path& folder, const Config& now,
                 const std::function<void(const std::string&)>& note) {
  const fs::path file = folder / "config.json";
  std::string damage = file.string() + ": is missing";
  std::optional<Kept> stated;
  if (fs::exists(file)) {
    try {
      stated = Kept{resolve(read_config(file), file.string()), file};
    } catch (const UserError& error) {
      damage = error.what();
    }
  }
  auto kept = config_of_result(folder);  // first: the figures are of this one
  if (!kept) kept = stated ? stated : config_of_checkpoint(folder);
  if (!stated) {
    note(damage + "; " + (kept ? kept->file.string() + " has the run's config" : "written anew"));
  }
  if (kept && kept->file != file) {  // what the run found out is not in config.json
    if (!now.model.V.stated()) kept->config.model.V = now.model.V;
    if (!now.model.source_V.stated()) kept->config.model.source_V = now.model.source_V;
  }
  return {std::move(kept), stated && stated->config == now};
}

}  // namespace

void keep_config(const Config& config, const fs::path& folder,
                 const std::function<void(const std::string&)>& note) {
  const fs::path file = folder / "config.json";
  const bool has_begun =
      !checkpoint_folders(folder / "checkpoints").empty() || fs::exists(folder / "result.json");
  const auto [kept, is_in_place] = has_begun ? begun_with(folder, config, note) : Begun();
  const auto different = kept ? differences(kept->config, config) : std::vector<Difference>();
  if (!different.empty()) {
    if (const auto why = why_not_go_on(kept->config, config)) {
      throw UserError(folder.string() + ": holds another run: " + *why +
                      "; use another --out folder");
    }
    const bool is_longer = config.training.train_steps > kept->config.training.train_steps;
    if (!is_longer && fs::exists(folder / "result.json")) {
      throw UserError(folder.string() + ": is complete, with " + both_values(different.front()) +
                      "; transformer evaluate --checkpoint " + folder.string() + " " +
                      different.front().key + "=" + fields::shown(different.front().now) +
                      " decodes in another way");
    }
    fs::remove(folder / "result.json");  // it is not complete any more
    sync_folder(folder);
  }
  if (!is_in_place) write_sealed(file, to_json(config));
}

void expect_room(const fs::path& folder, const TrainingConfig& training, int64_t parameters) {
  const int64_t made = (training.train_steps - 1) / training.checkpoint_every + 1;
  const int64_t kept = std::min(made, std::max<int64_t>(training.average_last, 2));
  const int64_t there = std::ssize(checkpoint_folders(folder / "checkpoints"));
  const int64_t model = parameters * static_cast<int64_t>(sizeof(float));
  expect_free_space(folder,
                    std::max<int64_t>(1, kept + 1 - there) * checkpoint_bytes(parameters) + model,
                    "the checkpoints and the model");
}

void keep_vocabularies(const DataConfig& data, const fs::path& folder,
                       const std::function<void(const std::string&)>& note) {
  const auto keep = [&](const std::string& from, const char* name) {
    const std::string bytes = read_file(from);
    const fs::path copy = folder / name;
    const bool is_there = fs::exists(copy);
    if (is_there && read_file(copy) == bytes) return;
    write_file(copy, bytes);
    if (is_there) note(copy.string() + ": damaged; copied again from " + from);
  };
  keep(data.vocabulary, kKeptVocabulary);
  if (!data.source_vocabulary.empty()) keep(data.source_vocabulary, kKeptSourceVocabulary);
}

std::string fingerprint_of_vocabularies(const DataConfig& data) {
  const std::string target = fingerprint(read_file(data.vocabulary));
  const std::string source =
      data.source_vocabulary.empty() ? target : fingerprint(read_file(data.source_vocabulary));
  return fingerprint(source + target);
}

Model final_model(const fs::path& folder, const Config& config) {
  const fs::path checkpoints = folder / "checkpoints";
  const fs::path result = folder / "result.json";
  const auto fail = [&](const std::string& what) {
    throw Failure(what + "; remove " + checkpoints.string() +
                  (fs::exists(result) ? " and " + result.string() : "") + " to train again");
  };
  std::vector<fs::path> models;
  for (const int64_t step : steps_to_average(config.training)) {
    models.push_back(checkpoints / checkpoint_name(step) / "model.safetensors");
    if (!fs::exists(models.back())) {
      fail(models.back().string() + ": is missing, and is one of those to be averaged");
    }
  }
  Model mean;
  try {
    mean = average(models);
  } catch (const UserError& damage) {  // not the user's mistake here
    fail(damage.what());
  }
  mean.config = config;
  return mean;
}

namespace {

// The copies in the folder, made again from the originals where they are damaged or lost.
void mend_vocabularies(const DataConfig& originals, const fs::path& folder,
                       const std::string& fingerprint,
                       const std::function<void(const std::string&)>& note) {
  const auto damage_of = [&](const DataConfig& data) -> std::string {
    try {
      return fingerprint_of_vocabularies(data) == fingerprint
                 ? ""
                 : data.vocabulary + ": not the vocabulary that the model was trained with";
    } catch (const UserError& damage) {
      return damage.what();
    }
  };
  DataConfig copies = originals;
  copies.vocabulary = (folder / kKeptVocabulary).string();
  if (!originals.source_vocabulary.empty()) {
    copies.source_vocabulary = (folder / kKeptSourceVocabulary).string();
  }
  const std::string damage = damage_of(copies);
  if (damage.empty()) return;
  if (damage_of(originals).empty()) {
    keep_vocabularies(originals, folder, note);
  } else {
    note(damage + "; and the original is gone or another by now");
  }
}

}  // namespace

void expect_of_run(const Result& result, Config config, const fs::path& file) {
  const auto there = resolve(from_json<Config>(result.config, file.string()), file.string());
  if (!config.model.V.stated()) config.model.V = there.model.V;
  if (!config.model.source_V.stated()) config.model.source_V = there.model.source_V;
  const auto different = differences(there, resolve(config, file.string()));
  // The same text may lie elsewhere by now.
  const auto other = std::ranges::find_if(
      different, [](const Difference& difference) { return !difference.key.starts_with("data."); });
  if (other == different.end()) return;
  throw UserError(file.string() + ": is of another run: " + both_values(*other) +
                  "; put the right folder there, or move this one away, and the run is trained");
}

std::optional<Result> complete_result(const fs::path& folder,
                                      const std::function<void(const std::string&)>& note) {
  const fs::path file = folder / "result.json";
  if (!fs::exists(file)) return std::nullopt;
  std::optional<Result> result;
  try {
    result = read_result(file);
  } catch (const Damaged& damage) {
    note(std::string(damage.what()) + "; the run goes on from its checkpoints");
    return std::nullopt;
  }
  if (const auto damage = damage_of_translations(folder); !damage.empty()) {
    const auto folders = checkpoint_folders(folder / "checkpoints");
    const bool can_be_made =
        !folders.empty() && checkpoint_step(folders.back()) == result->train_steps;
    for (const auto& each : damage) note(each + (can_be_made ? "; translated again" : ""));
    if (can_be_made) return std::nullopt;
  }
  const Config config = resolve(from_json<Config>(result->config, file.string()), file.string());
  const fs::path model = folder / "model.safetensors";
  try {
    const auto stated = model_of_figures(folder);
    if (const auto there = read_state(model, ChecksumRule::required).checksum;
        !stated.empty() && there != stated) {
      throw Damaged(model.string() + ": is sound, but not the one that made the run's figures");
    }
    note(folder.string() + ": already complete");
  } catch (const UserError& damage) {
    note(std::string(damage.what()) + "; the model is made again from the checkpoints");
    write_model(model, final_model(folder, config));
  }
  for (const char* name : {"metrics.jsonl", "diagnostics.jsonl"}) {
    for (const auto& damage : read_metrics(folder / name).damage) note(damage);
  }
  mend_vocabularies(config.data, folder, result->vocabulary_fingerprint, note);
  return result;
}

}  // namespace transformer
