#include <cstdio>
#include <iostream>

#include "tools/commands/commands.h"
#include "tools/commands/model_options.h"
#include "transformer/data/parallel_text.h"
#include "transformer/decode/scoring.h"
#include "transformer/error.h"

namespace transformer {

namespace {

// Shortest text that reads back as the same number.
std::string exact(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

}  // namespace

int score_command(int argc, char** argv) {
  cxxopts::Options options("transformer score");
  add_model_options(options);
  options.add_options()("source", "text, a sentence a line", cxxopts::value<std::string>())(
      "target", "its translations, a sentence a line", cxxopts::value<std::string>())(
      "tokens", "also each word-piece with its log-probability");
  const auto arguments = parse(
      options,
      {.name = "score",
       .summary = "Prints a line a pair: the sum of natural-log probabilities of the target's "
                  "word-pieces and their count, end-of-sentence included, with a tab between.",
       .usage = "--checkpoint RUN --source F --target F",
       .example = "transformer score --checkpoint runs/small --source data/small/test.en "
                  "--target data/small/test.de",
       .most = 0,
       .with_overrides = true},
      argc, argv);
  if (!arguments) return 0;
  for (const char* needed : {"source", "target"}) {
    if (!arguments->has(needed))
      throw UserError(std::string("score: expected --") + needed + " FILE");
  }
  const auto sources = read_lines(arguments->get<std::string>("source"));
  const auto targets = read_lines(arguments->get<std::string>("target"));
  auto loaded = load_model(*arguments);
  for (const auto& pair : score(loaded.translator, sources, targets)) {
    std::cout << exact(pair.log_probability) << "\t" << pair.pieces.size();
    if (arguments->has("tokens")) {
      for (size_t i = 0; i < pair.pieces.size(); ++i) {
        std::cout << "\t" << loaded.translator.target.piece(pair.pieces[i]) << " "
                  << exact(pair.piece_log_probabilities[i]);
      }
    }
    std::cout << "\n";
  }
  return 0;
}

}  // namespace transformer
