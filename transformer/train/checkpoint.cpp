#include "transformer/train/checkpoint.h"

#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <type_traits>

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

bool is_checkpoint_name(const std::string& name) {
  return name.size() == checkpoint_name(0).size() && name.starts_with("step-") &&
         name.find_first_not_of("0123456789", 5) == std::string::npos;
}

Model model_in(StateFile file, const fs::path& path) {
  const auto found = file.metadata.find("config");
  if (found == file.metadata.end()) {
    throw UserError(path.string() +
                    ": expected the config in its metadata, under the key \"config\"; it has none");
  }
  const std::string where = path.string() + ": config";
  Config config = resolve(from_json<Config>(parse_json(found->second, where), where), where);
  return {std::move(config), file.metadata["vocabulary"], std::move(file.state),
          std::move(file.checksum)};
}

void expect_of_one_moment(const std::string& stated, const std::string& found,
                          const fs::path& file) {
  if (stated.empty() || stated == found) return;
  throw Damaged(file.string() + ": is sound, but not the one that was written with the " +
                kProgressFile + " beside it");
}

// Counts are added to, which the largest integers would not bear.
Progress read_progress(const fs::path& path) {
  constexpr int64_t kMost = int64_t{1} << 62;
  const auto progress = from_json<Progress>(read_sealed(path), path.string());
  Progress::visit(progress, [&]<class T>(const char* name, const T& value) {
    if constexpr (std::is_same_v<T, int64_t>) {
      if (value < 0 || value > kMost) {
        throw Damaged(path.string() + ": " + name + ": expected a count; got " +
                      std::to_string(value));
      }
    }
  });
  return progress;
}

}  // namespace

Checkpoint read_checkpoint(const fs::path& folder) {
  Model model = model_in(read_state(folder / kModelFile), folder / kModelFile);
  Progress progress = read_progress(folder / kProgressFile);
  if (progress.step != checkpoint_step(folder)) {
    throw Damaged((folder / kProgressFile).string() + ": is of step " +
                  std::to_string(progress.step) + ", not of its folder's");
  }
  StateFile optimizer = read_state(folder / kOptimizerFile);
  expect_of_one_moment(progress.model_checksum, model.checksum, folder / kModelFile);
  expect_of_one_moment(progress.optimizer_checksum, optimizer.checksum, folder / kOptimizerFile);
  return {.config = std::move(model.config),
          .vocabulary = std::move(model.vocabulary),
          .progress = std::move(progress),
          .model = std::move(model.state),
          .optimizer = std::move(optimizer.state)};
}

std::vector<std::string> damage_of_checkpoint(const fs::path& folder) {
  std::vector<std::string> damage;
  const auto look = [&](const std::function<void()>& read) {
    try {
      read();
    } catch (const UserError& error) {
      damage.emplace_back(error.what());
    }
  };
  look([&] { read_state(folder / kModelFile); });
  look([&] { read_state(folder / kOptimizerFile); });
  look([&] { read_progress(folder / kProgressFile); });
  if (damage.empty()) look([&] { read_checkpoint(folder); });  // whether they fit each other
  return damage;
}

int64_t checkpoint_bytes(int64_t parameters) {
  constexpr int64_t kStates = 3;
  constexpr int64_t kNames = 1 << 20;  // headers, and what a file system rounds up
  return kStates * parameters * static_cast<int64_t>(sizeof(float)) + kNames;
}

int64_t checkpoint_step(const fs::path& folder) {
  return std::atoll(folder.filename().string().substr(std::string("step-").size()).c_str());
}

void remove_leftovers_of_checkpoints(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kUnfinished) && is_checkpoint_name(name.substr(kUnfinished.size()))) {
      fs::remove_all(entry.path(), ignored);
    }
  }
}

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
  remove_leftovers_of_checkpoints(folder);
  const std::string name = checkpoint_name(checkpoint.progress.step);
  const fs::path temporary = folder / (std::string(kUnfinished) + name);
  const fs::path final = folder / name;
  std::error_code error;
  fs::remove_all(temporary, error);
  make_folder(temporary);
  try {
    Progress progress = checkpoint.progress;
    progress.model_checksum = write_model(
        temporary / kModelFile, {checkpoint.config, checkpoint.vocabulary, checkpoint.model});
    progress.optimizer_checksum = write_state(temporary / kOptimizerFile, checkpoint.optimizer, {});
    write_sealed(temporary / kProgressFile, to_json(progress));
  } catch (...) {
    fs::remove_all(temporary, error);  // gives a full disk its room back
    throw;
  }
  fs::remove_all(final, error);  // an unsound one of the same step
  fs::rename(temporary, final, error);
  if (error) throw Failure(final.string() + ": cannot rename into place: " + error.message());
  sync_folder(folder);
}

namespace {

// Whole or not at all.
void remove_checkpoint(const fs::path& path) {
  std::error_code error;
  const fs::path leaving =
      path.parent_path() / (std::string(kUnfinished) + path.filename().string());
  fs::rename(path, leaving, error);
  fs::remove_all(error ? path : leaving, error);
}

}  // namespace

void remove_checkpoints_after(const fs::path& folder, int64_t step) {
  for (const auto& path : checkpoint_folders(folder)) {
    if (checkpoint_step(path) > step) remove_checkpoint(path);
  }
}

void remove_old_checkpoints(const fs::path& folder, int64_t keep, int64_t every) {
  auto folders = checkpoint_folders(folder);
  if (folders.empty()) return;
  int64_t regular = checkpoint_step(folders.back()) % every == 0 ? 1 : 0;
  folders.pop_back();
  for (auto path = folders.rbegin(); path != folders.rend(); ++path) {
    const bool is_regular = checkpoint_step(*path) % every == 0;
    if (is_regular && regular++ < keep) continue;
    remove_checkpoint(*path);
  }
}

std::optional<Checkpoint> newest_checkpoint(
    const fs::path& folder, const std::function<void(const std::string&)>& on_damage) {
  auto folders = checkpoint_folders(folder);
  for (auto path = folders.rbegin(); path != folders.rend(); ++path) {
    try {
      return read_checkpoint(*path);
    } catch (const Damaged& damage) {
      on_damage(damage.what());
    }
  }
  return std::nullopt;
}

std::string write_model(const fs::path& path, const Model& model) {
  return write_state(
      path, model.state,
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
