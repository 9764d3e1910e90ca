#include <algorithm>
#include <iostream>
#include <set>

#include "experiments/own_folder.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/train/checkpoint.h"

namespace transformer {

namespace {

// A model that is given twice would count twice: its folder, and the file in it, too.
void check_different(const std::vector<std::filesystem::path>& models) {
  std::set<std::filesystem::path> seen;
  for (const auto& model : models) {
    std::error_code unknown;
    const auto same = std::filesystem::weakly_canonical(file_of_model(model), unknown);
    if (!seen.insert(unknown ? model : same).second) {
      throw UserError(model.string() + ": is given twice");
    }
  }
}

// What a run has written there is known by its checksum, and may be gone on from.
void expect_not_of_a_run(const std::filesystem::path& out) {
  const auto folder = std::filesystem::absolute(out).lexically_normal().parent_path();
  const bool is_a_runs =
      is_run(folder) && std::ranges::count(run_files(), out.filename().string()) > 0;
  if (is_a_runs || std::filesystem::exists(folder / "progress.json")) {
    throw UserError(out.string() +
                    ": is a file of a run, which goes on from what it wrote; name "
                    "another with --out");
  }
}

}  // namespace

int average_command(int argc, char** argv) {
  namespace fs = std::filesystem;
  cxxopts::Options options("transformer average");
  options.add_options()("out", "the .safetensors file to write", cxxopts::value<std::string>())(
      "last", "of a run's folder: its last K checkpoints; 0: all that it has",
      cxxopts::value<std::string>()->default_value("0"))("force", "write over an existing file");
  const auto arguments =
      parse(options,
            {.name = "average",
             .summary = "Writes the mean of several models of one architecture and vocabulary.",
             .usage = "MODEL... --out FILE",
             .example = "transformer average runs/base --last 5 --out averaged.safetensors",
             .fewest = 1,
             .most = 10000},
            argc, argv);
  if (!arguments) return 0;
  if (!arguments->has("out")) throw UserError("average: expected --out FILE.safetensors");
  const fs::path out = arguments->get<std::string>("out");
  expect_not_of_a_run(out);
  const int64_t last = arguments->integer("last", 0);
  std::vector<fs::path> models;
  for (const auto& word : arguments->positional) {
    auto folders = checkpoint_folders(fs::path(word) / "checkpoints");
    if (folders.empty()) folders = {word};
    if (last > static_cast<int64_t>(folders.size())) {
      throw UserError(word + ": expected " + std::to_string(last) + " checkpoints; it has " +
                      std::to_string(folders.size()) +
                      ": a run keeps as many as its training.average_last, and two at least");
    }
    if (last > 0) folders.erase(folders.begin(), folders.end() - last);
    models.insert(models.end(), folders.begin(), folders.end());
  }
  check_different(models);
  OutputRules rules{.content = Content::binary, .force = arguments->has("force")};
  for (const auto& model : models) rules.inputs.push_back(file_of_model(model));
  check_output(out, rules);
  write_model(out, average(models));
  for (const auto& model : models) std::cout << model.string() << "\n";
  std::cerr << "the mean of " << models.size() << " models is in " << out.string() << "\n";
  return 0;
}

}  // namespace transformer
