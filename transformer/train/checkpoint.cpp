#include "transformer/train/checkpoint.h"

#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/sealed_json.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

constexpr auto kModelFile = "model.safetensors";
constexpr auto kOptimizerFile = "optimizer.safetensors";
constexpr auto kProgressFile = "progress.json";
constexpr std::string_view kUnfinished = ".tmp-";  // before the name of what is not whole

Model model_in(StateFile file, const fs::path& path) {
  const auto found = file.metadata.find("config");
  if (found == file.metadata.end()) {
    throw UserError(path.string() +
                    ": expected the config in its metadata, under the key \"config\"; it has none");
  }
  const std::string where = path.string() + ": config";
  Config config = resolve(from_json<Config>(parse_json(found->second, where), where), where);
  return {std::move(config), file.metadata["vocabulary"], std::move(file.state)};
}

Progress read_progress(const fs::path& path) {
  return from_json<Progress>(unsealed(read_json(path), path.string()), path.string());
}

Checkpoint read_checkpoint(const fs::path& folder) {
  Model model = model_in(read_state(folder / kModelFile), folder / kModelFile);
  return {.config = std::move(model.config),
          .vocabulary = std::move(model.vocabulary),
          .progress = read_progress(folder / kProgressFile),
          .model = std::move(model.state),
          .optimizer = read_state(folder / kOptimizerFile).state};
}

int64_t step_of(const fs::path& folder) {
  return std::atoll(folder.filename().string().substr(std::string("step-").size()).c_str());
}

bool is_checkpoint_name(const std::string& name) {
  return name.size() == checkpoint_name(0).size() && name.starts_with("step-") &&
         name.find_first_not_of("0123456789", 5) == std::string::npos;
}

void remove_interrupted_writes(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kUnfinished) && is_checkpoint_name(name.substr(kUnfinished.size()))) {
      fs::remove_all(entry.path(), ignored);
    }
  }
}

}  // namespace

std::string checkpoint_name(int64_t step) {
  char name[32];
  std::snprintf(name, sizeof name, "step-%09lld", static_cast<long long>(step));
  return name;
}

std::vector<fs::path> checkpoint_folders(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing)) {
    const bool is_ours = is_checkpoint_name(entry.path().filename().string());
    if (is_ours && entry.is_directory(missing)) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

void write_checkpoint(const fs::path& folder, const Checkpoint& checkpoint) {
  make_folder(folder);
  remove_interrupted_writes(folder);
  const std::string name = checkpoint_name(checkpoint.progress.step);
  const fs::path temporary = folder / (std::string(kUnfinished) + name);
  const fs::path final = folder / name;
  std::error_code error;
  fs::remove_all(temporary, error);
  make_folder(temporary);
  try {
    write_model(temporary / kModelFile,
                {checkpoint.config, checkpoint.vocabulary, checkpoint.model});
    write_state(temporary / kOptimizerFile, checkpoint.optimizer, {});
    write_json(temporary / kProgressFile, sealed(to_json(checkpoint.progress)));
  } catch (...) {
    fs::remove_all(temporary, error);  // gives a full disk its room back
    throw;
  }
  fs::remove_all(final, error);  // an unsound one of the same step
  fs::rename(temporary, final, error);
  if (error) throw Failure(final.string() + ": cannot rename into place: " + error.message());
  sync_folder(folder);
}

void remove_old_checkpoints(const fs::path& folder, int64_t keep, int64_t every) {
  auto folders = checkpoint_folders(folder);
  if (folders.empty()) return;
  int64_t regular = step_of(folders.back()) % every == 0 ? 1 : 0;
  folders.pop_back();
  std::error_code ignored;
  for (auto path = folders.rbegin(); path != folders.rend(); ++path) {
    const bool is_regular = step_of(*path) % every == 0;
    if (is_regular && regular++ < keep) continue;
    fs::remove_all(*path, ignored);
  }
}

std::optional<Checkpoint> newest_checkpoint(
    const fs::path& folder, const std::function<void(const std::string&)>& on_damage) {
  auto folders = checkpoint_folders(folder);
  for (auto path = folders.rbegin(); path != folders.rend(); ++path) {
    try {
      return read_checkpoint(*path);
    } catch (const UserError& damage) {
      on_damage(damage.what());
    }
  }
  return std::nullopt;
}

void write_model(const fs::path& path, const Model& model) {
  write_state(path, model.state,
              {{"config", text_of(to_json(model.config))}, {"vocabulary", model.vocabulary}});
}

fs::path file_of_model(const fs::path& path) {
  if (!fs::is_directory(path)) return path;
  const fs::path file = path / kModelFile;
  if (fs::exists(file)) return file;
  const auto folders = checkpoint_folders(path / "checkpoints");
  if (folders.empty() || !fs::exists(folders.back() / kModelFile)) {
    throw UserError(
        path.string() +
        ": expected a run or a checkpoint; it has neither model.safetensors nor checkpoints");
  }
  return folders.back() / kModelFile;
}

Model read_model(const fs::path& path) {
  const fs::path file = file_of_model(path);
  // A file named by itself may come from another program.
  const auto rule = file == path ? ChecksumRule::where_there_is_one : ChecksumRule::required;
  return model_in(read_state(file, rule), file);
}

Model average(const std::vector<fs::path>& paths) {
  TORCH_CHECK(!paths.empty(), "average: no models");
  Model mean = read_model(paths.front());
  std::map<std::string, torch::Tensor> sums;
  for (auto& [name, tensor] : mean.state) sums[name] = tensor.to(torch::kFloat64);
  for (size_t i = 1; i < paths.size(); ++i) {
    Model next = read_model(paths[i]);
    const auto different = differences(mean.config.model, next.config.model);
    if (!different.empty()) {
      const auto& [key, first, here] = different.front();
      throw UserError(paths[i].string() + ": model." + key + ": " + fields::shown(here) + "; " +
                      paths.front().string() + " has " + fields::shown(first) +
                      "; only one architecture can be averaged");
    }
    if (next.vocabulary != mean.vocabulary) {
      throw UserError(paths[i].string() + ": was trained with another vocabulary than " +
                      paths.front().string());
    }
    State expected = mean.state;
    for (auto& [name, tensor] : expected) tensor = torch::empty_like(tensor);
    assign(next.state, expected, paths[i].string());
    for (auto& [name, tensor] : expected) sums[name] += tensor;
  }
  for (auto& [name, tensor] : mean.state) {
    tensor = (sums[name] / static_cast<double>(paths.size())).to(tensor.scalar_type());
    if (!torch::isfinite(tensor).all().item<bool>()) {
      throw Failure(name + ": the average is not finite; one of the models has diverged");
    }
  }
  return mean;
}

}  // namespace transformer
