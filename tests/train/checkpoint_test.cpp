#include "transformer/train/checkpoint.h"

#include <torch/torch.h>

#include <limits>

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/error.h"
#include "transformer/files.h"

using namespace transformer;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

Config some_config() {
  Config config;
  config.model.V = 50;
  return resolve(config);
}

Checkpoint at_step(int64_t step) {
  Progress progress;
  progress.step = step;
  progress.seconds = 0.1;
  const auto value = torch::full({3}, static_cast<float>(step));
  return {some_config(), "v", progress, {{"w", value}}, {{"first_moment.w", value * 2}}};
}

}  // namespace

TEST_CASE("checkpoint: the newest comes back, older ones beyond the kept are removed") {
  const TemporaryFolder folder;
  for (const int64_t step : {9, 10, 100, 1000}) write_checkpoint(folder.path(), at_step(step));
  remove_old_checkpoints(folder.path(), 3, 1);
  REQUIRE(checkpoint_folders(folder.path()).size() == 3);
  const auto newest = newest_checkpoint(folder.path(), [](const std::string&) { FAIL(); });
  REQUIRE(newest);
  REQUIRE(newest->progress.step == 1000);
  REQUIRE(newest->progress.seconds == 0.1);
  REQUIRE(newest->config == some_config());
  REQUIRE(newest->vocabulary == "v");
  REQUIRE(torch::equal(newest->model.at("w"), torch::full({3}, 1000.0f)));
  REQUIRE(torch::equal(newest->optimizer.at("first_moment.w"), torch::full({3}, 2000.0f)));
}

TEST_CASE("checkpoint: one that an interruption left goes, and takes no other's place") {
  const TemporaryFolder folder;
  const auto steps = [&] {  // the newest, and each that is there
    std::string all;
    for (const auto& path : checkpoint_folders(folder.path())) {
      all += std::to_string(newest_checkpoint(folder.path(), {})->progress.step) + " " +
             path.filename().string().substr(12) + " ";
    }
    return all;
  };
  for (const int64_t step : {10, 20, 30, 37}) write_checkpoint(folder.path(), at_step(step));
  remove_old_checkpoints(folder.path(), 2, 10);
  REQUIRE(steps() == "37 20 37 30 37 37 ");
  write_checkpoint(folder.path(), at_step(40));
  remove_old_checkpoints(folder.path(), 2, 10);
  REQUIRE(steps() == "40 30 40 40 ");
  write_checkpoint(folder.path(), at_step(45));  // the last step need not be a multiple
  remove_old_checkpoints(folder.path(), 2, 10);
  REQUIRE(steps() == "45 30 45 40 45 45 ");
}

TEST_CASE("checkpoint: a damaged one is named and an older one taken") {
  const TemporaryFolder folder;
  for (const char* file : {"model.safetensors", "optimizer.safetensors", "progress.json"}) {
    for (const int64_t step : {1, 2}) write_checkpoint(folder.path(), at_step(step));
    const fs::path path = folder.path() / "step-000000002" / file;
    const std::string sound = read_file(path);
    write_file(path, sound.substr(0, sound.size() / 2));
    std::string damage;
    const auto newest = newest_checkpoint(folder.path(), [&](const std::string& d) { damage = d; });
    REQUIRE(newest);
    REQUIRE(newest->progress.step == 1);
    REQUIRE_THAT(damage, Contains(path.string()));
  }
  // A changed number in progress.json is still JSON.
  for (const int64_t step : {1, 2}) write_checkpoint(folder.path(), at_step(step));
  const fs::path path = folder.path() / "step-000000002" / "progress.json";
  std::string text = read_file(path);
  text.replace(text.find("\"batch\": 0"), 10, "\"batch\": 1");
  write_file(path, text);
  REQUIRE(newest_checkpoint(folder.path(), [](const std::string&) {})->progress.step == 1);
}

TEST_CASE("checkpoint: what an interrupted write left is not a checkpoint, and is cleared away") {
  const TemporaryFolder folder;
  fs::create_directories(folder / ".tmp-step-000000007");
  write_file(folder / ".tmp-step-000000007" / "model.safetensors", "half");
  for (const char* name : {".tmp-mine", ".tmp-step-7"}) {  // somebody's own
    fs::create_directories(folder / name);
    write_file(folder / name / "f", "text");
  }
  REQUIRE_FALSE(newest_checkpoint(folder.path(), [](const std::string&) { FAIL(); }));
  write_checkpoint(folder.path(), at_step(8));
  REQUIRE_FALSE(fs::exists(folder / ".tmp-step-000000007"));
  for (const char* name : {".tmp-mine/f", ".tmp-step-7/f"}) REQUIRE(fs::exists(folder / name));
}

TEST_CASE("checkpoint: one removed in part by a killed process is never taken for another") {
  const TemporaryFolder folder;
  for (const int64_t step : {1, 2, 3}) write_checkpoint(folder.path(), at_step(step));
  remove_old_checkpoints(folder.path(), 1, 1);
  REQUIRE(fs::directory_iterator(folder.path())->path().filename() == "step-000000003");
  fs::create_directories(folder /
                         ".tmp-step-000000002");  // as it stands between rename and removal
  remove_leftovers_of_checkpoints(folder.path());
  REQUIRE(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("checkpoint: later ones than the training has come to are not sound, and go") {
  const TemporaryFolder folder;
  for (const int64_t step : {10, 20, 30}) write_checkpoint(folder.path(), at_step(step));
  remove_checkpoints_after(folder.path(), 20);
  REQUIRE(checkpoint_folders(folder.path()).size() == 2);
  REQUIRE(checkpoint_step(checkpoint_folders(folder.path()).back()) == 20);
}

TEST_CASE("checkpoint: one of another version is refused, not passed over as damaged") {
  const TemporaryFolder folder;
  write_checkpoint(folder.path(), at_step(1));
  const fs::path model = folder / "step-000000001/model.safetensors";
  auto read = read_state(model);
  Json config = parse_json(read.metadata["config"], "config");
  config["model"]["novelty"] = 1;
  read.metadata["config"] = config.dump();
  write_state(model, read.state, read.metadata);
  REQUIRE_THROWS_WITH(newest_checkpoint(folder.path(), [](const std::string&) {}),
                      Contains("model.novelty: unknown key"));
}

TEST_CASE("checkpoint: the damage of each file is told, and a step in another's folder") {
  const TemporaryFolder folder;
  write_checkpoint(folder.path(), at_step(1));
  const fs::path path = folder / "step-000000001";
  REQUIRE(damage_of_checkpoint(path).empty());
  write_file(path / "model.safetensors", "x");
  fs::remove(path / "progress.json");
  REQUIRE(damage_of_checkpoint(path).size() == 2);
  write_checkpoint(folder.path(), at_step(2));
  fs::rename(folder / "step-000000002", folder / "step-000000007");
  REQUIRE_THAT(damage_of_checkpoint(folder / "step-000000007").at(0),
               Contains("progress.json: is of step 2"));
}

TEST_CASE("checkpoint: none in a folder that is not there") {
  REQUIRE_FALSE(newest_checkpoint("/nonexistent/checkpoints", [](const std::string&) {}));
}

TEST_CASE("average: of models by hand, and refused across architectures") {
  const TemporaryFolder folder;
  std::vector<fs::path> paths;
  for (const float value : {1.0f, 2.0f, 6.0f}) {
    paths.push_back(folder / (std::to_string(value) + ".safetensors"));
    write_model(paths.back(), {some_config(), "v", {{"w", torch::full({2}, value)}}});
  }
  REQUIRE(torch::equal(average(paths).state.at("w"), torch::full({2}, 3.0f)));
  REQUIRE(torch::equal(average({paths[1]}).state.at("w"), torch::full({2}, 2.0f)));

  Config other = some_config();
  other.model.norm_placement = NormPlacement::pre;
  paths.push_back(folder / "other.safetensors");
  write_model(paths.back(), {other, "v", {{"w", torch::ones({2})}}});
  REQUIRE_THROWS_WITH(average(paths), Contains("model.norm_placement: \"pre\";"));
  write_model(paths.back(), {some_config(), "another", {{"w", torch::ones({2})}}});
  REQUIRE_THROWS_WITH(average(paths), Contains("another vocabulary"));
  write_model(paths.back(), {some_config(), "v", {{"w", torch::full({2}, NAN)}}});
  REQUIRE_THROWS_AS(average(paths), Failure);
}

TEST_CASE("model: found in a run's folder, in its newest checkpoint, or named itself") {
  const TemporaryFolder folder;
  REQUIRE_THROWS_WITH(read_model(folder.path()), Contains("neither model.safetensors"));
  write_checkpoint(folder / "checkpoints", at_step(3));
  write_checkpoint(folder / "checkpoints", at_step(4));
  REQUIRE(read_model(folder.path()).state.at("w")[0].item<float>() == 4);
  REQUIRE(read_model(folder / "checkpoints/step-000000003").state.at("w")[0].item<float>() == 3);
  write_model(folder / "model.safetensors", {some_config(), "v", {{"w", torch::ones({1})}}});
  REQUIRE(read_model(folder.path()).state.at("w")[0].item<float>() == 1);
  write_state(folder / "foreign.safetensors", {{"w", torch::ones({1})}}, {});
  REQUIRE_THROWS_WITH(read_model(folder / "foreign.safetensors"),
                      Contains("\"config\"; it has none"));
}

TEST_CASE("checkpoint: sound files of two moments are no checkpoint") {
  const TemporaryFolder folder;
  for (const int64_t step : {10, 20}) write_checkpoint(folder.path(), at_step(step));
  const auto older = folder / checkpoint_name(10), newer = folder / checkpoint_name(20);
  for (const std::string name : {"optimizer.safetensors", "model.safetensors"}) {
    const std::string own = read_file(newer / name);
    fs::copy_file(older / name, newer / name, fs::copy_options::overwrite_existing);
    REQUIRE_THROWS_WITH(read_checkpoint(newer),
                        Contains(name + ": is sound, but not the one that was written with"));
    REQUIRE(damage_of_checkpoint(newer).size() == 1);
    REQUIRE(newest_checkpoint(folder.path(), [](const std::string&) {})->progress.step == 10);
    write_file(newer / name, own);
  }
  REQUIRE(read_checkpoint(newer).progress.step == 20);
}

TEST_CASE("checkpoint: a count that cannot be added to is damage") {
  const TemporaryFolder folder;
  write_checkpoint(folder.path(), at_step(1));
  for (const int64_t epoch : {int64_t{-1}, std::numeric_limits<int64_t>::max()}) {
    Checkpoint checkpoint = at_step(2);
    checkpoint.progress.epoch = epoch;
    write_checkpoint(folder.path(), checkpoint);
    std::string damage;
    const auto newest = newest_checkpoint(folder.path(), [&](const std::string& d) { damage = d; });
    REQUIRE(newest->progress.step == 1);
    REQUIRE_THAT(damage, Contains("progress.json: epoch: expected a count; got "));
  }
}
