#include <algorithm>
#include <cstdio>
#include <iostream>

#include "experiments/interrupts.h"
#include "tools/commands/commands.h"
#include "tools/commands/model_options.h"
#include "transformer/data/lines.h"
#include "transformer/data/parallel_text.h"
#include "transformer/decode/scoring.h"
#include "transformer/error.h"

namespace transformer {

namespace {

std::vector<std::string> next_lines(LineReader& text, size_t most) {
  std::vector<std::string> lines;
  for (std::string line; lines.size() < most && text.next(line);) {
    check_line(line, text.name(), text.number());
    lines.push_back(line);
  }
  return lines;
}

// As many digits as a float32 has.
std::string exact(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

// What the model needs: a source where it reads one.
void expect_files(const Arguments& arguments, const ModelConfig& model) {
  expect_scores(model, "score");
  if (reads_source(model.family) == arguments.has("source")) return;
  throw UserError(arguments.has("source")
                      ? "score: --source: the model's family is " + name_of(model.family) +
                            ", which reads no source; give --target alone"
                      : std::string("score: expected --source FILE"));
}

void write(const PairScore& pair, const Tokenizer& target, bool tokens) {
  std::cout << exact(pair.log_probability) << "\t" << pair.pieces.size();
  for (size_t i = 0; tokens && i < pair.pieces.size(); ++i) {
    std::cout << "\t" << target.piece(pair.pieces[i]) << " "
              << exact(pair.piece_log_probabilities[i]);
  }
  std::cout << "\n";
}

}  // namespace

int score_command(int argc, char** argv) {
  cxxopts::Options options("transformer score");
  add_model_options(options);
  options.add_options()(
      "source", "text, a sentence a line; - is standard input; not for a decoder_only model",
      cxxopts::value<std::string>())("target", "its translations, a sentence a line",
                                     cxxopts::value<std::string>())(
      "tokens", "also each word-piece with its log-probability");
  const auto arguments = parse(
      options,
      {.name = "score",
       .summary = "Prints a line a pair: the sum of natural-log probabilities of the target's "
                  "word-pieces and their count, end-of-sentence included, with a tab between. A "
                  "decoder_only model has a line a sentence of --target, and no --source. Of the "
                  "nine digits the last depend on the batch, as sums of float32 do.",
       .usage = "--checkpoint RUN [--source F] --target F",
       .example = "transformer score --checkpoint runs/small --source data/small/test.en "
                  "--target data/small/test.de",
       .most = 0,
       .with_overrides = true},
      argc, argv);
  if (!arguments) return 0;
  if (!arguments->has("target")) throw UserError("score: expected --target FILE");
  const auto target = arguments->get<std::string>("target");
  if (target == "-" && arguments->has("source") && arguments->get<std::string>("source") == "-") {
    throw UserError("score: --source and --target cannot both be standard input");
  }
  const Interrupts interrupts(Interrupts::Second::ends_the_process);
  const auto& stop = interrupts.asked();
  std::optional<LineReader> sources;
  if (arguments->has("source")) sources.emplace(arguments->get<std::string>("source"), &stop);
  LineReader targets(target, &stop);
  auto loaded = load_model(*arguments);
  auto& translator = loaded.translator;
  expect_files(*arguments, loaded.config.model);
  constexpr size_t kBatchesAhead = 16;  // sorted by length together
  const auto most = kBatchesAhead * static_cast<size_t>(translator.decoding.sentences_per_batch);
  for (size_t number = 1; !stop;) {
    const auto source_lines = sources ? next_lines(*sources, most) : std::vector<std::string>();
    const auto target_lines = next_lines(targets, most);
    if (stop) break;
    if (sources && source_lines.size() != target_lines.size()) {
      throw UserError(
          "score: " + sources->name() + " and " + targets.name() +
          ": expected as many lines; one ends after line " +
          std::to_string(number - 1 + std::min(source_lines.size(), target_lines.size())));
    }
    if (target_lines.empty()) break;
    for (const auto& pair : score(translator, source_lines, target_lines,
                                  {.stop = &stop,
                                  .source = sources ? sources->name() : "",
                                  .target = targets.name(),
                                  .first = number})) {
      if (pair.pieces.empty()) break;  // stopped before this one
      write(pair, translator.target, arguments->has("tokens"));
    }
    std::cout.flush();
    number += target_lines.size();
  }
  return interrupts.exit_code();
}

}  // namespace transformer
