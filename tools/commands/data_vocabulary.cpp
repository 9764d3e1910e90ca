#include <iostream>

#include "experiments/grid.h"
#include "tools/commands/arguments.h"
#include "tools/commands/data_commands.h"
#include "transformer/config.h"
#include "transformer/data/dataset.h"
#include "transformer/data/tokenizer.h"
#include "transformer/error.h"
#include "transformer/files.h"

namespace transformer {

namespace {

void learn(VocabularyOptions options, const Arguments& arguments) {
  check_output(options.output, {.content = Content::binary,
                                .force = arguments.has("force"),
                                .inputs = options.files,
                                .warning = "--force learns it again, which makes models trained "
                                           "with it useless",
                                .makes_folder = true});
  fields::read(options.kind, Json(arguments.get<std::string>("kind")), "--kind");
  train_vocabulary(options);
  const Tokenizer tokenizer(options.output);
  std::cout << options.output.string() << ": " << tokenizer.size() << " word-pieces\n";
}

// The size and the place are the config's own.
void refuse_options_of_files(const Arguments& arguments) {
  if (arguments.has("V")) throw UserError("-V: stands with --files; of a CONFIG say model.V=N");
  if (arguments.has("out")) {
    throw UserError("--out: stands with --files; of a CONFIG say data.vocabulary=FILE");
  }
}

void learn_from_files(const Arguments& arguments) {
  if (!arguments.has("V") || !arguments.has("out")) {
    throw UserError("--files: expected -V and --out with it, or a CONFIG in its place");
  }
  if (!arguments.overrides.empty()) {
    throw UserError(fields::shown_name(arguments.overrides[0]) +
                    ": stands with a CONFIG; with --files it would change nothing");
  }
  VocabularyOptions options;
  for (const auto& file : split_list(arguments.get<std::string>("files"), "--files")) {
    options.files.emplace_back(file);
  }
  options.V = arguments.integer("pieces", 1);
  options.output = arguments.get<std::string>("out");
  learn(options, arguments);
}

}  // namespace

int data_vocabulary_command(int argc, char** argv) {
  cxxopts::Options options("transformer data vocabulary");
  options.add_options()("files", "text to learn from, in place of a config's",
                        cxxopts::value<std::string>(), "FILE,...")(
      "V,pieces", "word-pieces, with --files", cxxopts::value<std::string>(), "N")(
      "out", "file to write, with --files", cxxopts::value<std::string>(), "FILE")(
      "kind", "how they are learned", cxxopts::value<std::string>()->default_value("bpe"),
      choices_of<VocabularyKind>())("force", "write over an existing vocabulary");
  const auto arguments = parse(
      options,
      {.name = "data vocabulary",
       .summary = "Learns word-pieces: those of a config, model.V of them from data.train into "
                  "data.vocabulary, or from files. train does so itself where they are missing.",
       .usage = "[CONFIG] [key=value...]",
       .example = "transformer data vocabulary --files train.en,train.de -V 8000 --out "
                  "vocabulary.model",
       .fewest = 0,
       .most = 1,
       .with_overrides = true},
      argc, argv);
  if (!arguments) return 0;
  if (arguments->has("files") != arguments->positional.empty()) {
    throw UserError("data vocabulary: expected a CONFIG or --files; --help says more");
  }
  if (arguments->has("files")) {
    learn_from_files(*arguments);
    return 0;
  }
  refuse_options_of_files(*arguments);
  const Config config = load_config(arguments->positional[0], arguments->overrides);
  for (const auto& vocabulary : vocabularies_of(config)) learn(vocabulary, *arguments);
  return 0;
}

}  // namespace transformer
