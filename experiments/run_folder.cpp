#include "experiments/run_folder.h"

#include "transformer/decode/load.h"
#include "transformer/error.h"
#include "transformer/files.h"
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
  if (!is_in_place) write_json(file, to_json(config));
}

void keep_vocabularies(const DataConfig& data, const fs::path& folder) {
  const auto keep = [&](const std::string& from, const char* name) {
    const std::string bytes = read_file(from);
    const fs::path copy = folder / name;
    if (!fs::exists(copy) || read_file(copy) != bytes) write_file(copy, bytes);
  };
  keep(data.vocabulary, kKeptVocabulary);
  if (!data.source_vocabulary.empty()) keep(data.source_vocabulary, kKeptSourceVocabulary);
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
  const fs::path model = folder / "model.safetensors";
  try {
    read_state(model, ChecksumRule::required);
    note(folder.string() + ": already complete");
  } catch (const UserError& damage) {
    note(std::string(damage.what()) + "; the model is made again from the checkpoints");
    write_model(model, final_model(folder, from_json<Config>(result->config, file.string())));
  }
  return result;
}

}  // namespace transformer
