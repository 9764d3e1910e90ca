#include <filesystem>
#include <iostream>

#include "tools/commands/arguments.h"
#include "tools/commands/data_commands.h"
#include "transformer/data/generated_pair.h"
#include "transformer/error.h"
#include "transformer/files.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

void check_pair(const fs::path& folder, bool force) {
  for (const char* name : {"train.en", "train.de", "valid.en", "valid.de", "test.en", "test.de"}) {
    check_output(folder / name, {.force = force,
                                 .warning = "--force writes over it, or name another folder",
                                 .makes_folder = true});
  }
}

}  // namespace

int data_generate_command(int argc, char** argv) {
  cxxopts::Options options("transformer data generate");
  const GeneratedOptions usual;
  const auto number = [](int64_t value) {
    return cxxopts::value<std::string>()->default_value(std::to_string(value));
  };
  options.add_options()("out", "folder to write into", cxxopts::value<std::string>(), "FOLDER")(
      "pairs", "pairs to train on", number(usual.pairs), "N")(
      "valid", "pairs to validate on", number(usual.valid), "N")("test", "pairs to test on",
                                                                 number(usual.test), "N")(
      "words", "nouns, verbs, adjectives and adverbs in all", number(usual.words), "N")(
      "longest", "words in a source sentence at most", number(usual.longest), "N")(
      "seed", "another seed, another language", number(usual.seed), "S")(
      "force", "write over files of an earlier pair");
  const auto arguments = parse(
      options,
      {.name = "data generate",
       .summary =
           "Writes a generated language pair: train, valid and test, .en and .de. The same options "
           "give the same bytes on every machine; no sentence is in two of the three.",
       .usage = "",
       .example = "transformer data generate --out data/generated --pairs 50000"},
      argc, argv);
  if (!arguments) return 0;
  if (!arguments->has("out")) throw UserError("--out: expected the folder to write into; got none");
  const fs::path folder = arguments->get<std::string>("out");
  check_pair(folder, arguments->has("force"));
  const GeneratedOptions wanted{
      .pairs = arguments->integer("pairs", 0),
      .valid = arguments->integer("valid", 0),
      .test = arguments->integer("test", 0),
      .words = arguments->integer("words", 0),
      .longest = arguments->integer("longest", 0),
      .seed = arguments->integer("seed", std::numeric_limits<int64_t>::min())};
  generate_pair(wanted, folder);
  std::cout << folder.string() << ": " << wanted.pairs << " pairs to train on, " << wanted.valid
            << " to validate on, " << wanted.test << " to test on\n";
  return 0;
}

}  // namespace transformer
