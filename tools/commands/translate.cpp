#include "transformer/decode/translate.h"

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "experiments/interrupts.h"
#include "tools/commands/commands.h"
#include "tools/commands/model_options.h"
#include "tools/text_table.h"
#include "transformer/data/lines.h"
#include "transformer/error.h"
#include "transformer/utf8.h"

namespace transformer {

namespace {

// At least one line unless the input has ended or a signal came; then as many as are there, `most`
// at most: a reader who waits for each answer gets it.
std::vector<std::string> lines_there(LineReader& input, size_t most) {
  std::vector<std::string> lines;
  for (std::string line;
       lines.size() < most && (lines.empty() || input.has_next()) && input.next(line);) {
    lines.push_back(line);
    if (too_many_bytes(line)) break;  // refused: no need to hold more of them
  }
  return lines;
}

// Lines as word-pieces, up to the first that cannot be translated.
struct Sources {
  std::vector<std::vector<int32_t>> pieces;
  std::optional<std::string> problem;  // of the line behind them
};

Sources encode(const Translator& translator, const std::vector<std::string>& lines) {
  Sources sources;
  for (const auto& line : lines) {
    sources.problem = too_many_bytes(line);
    if (!sources.problem && !is_utf8(line)) sources.problem = "expected UTF-8";
    if (sources.problem) break;
    auto pieces = source_pieces(translator, line);
    sources.problem =
        too_long(std::ssize(pieces) - 1, translator.model->config(), translator.decoding);
    if (sources.problem) break;
    sources.pieces.push_back(std::move(pieces));
  }
  return sources;
}

// How translations are written.
struct Format {
  bool scores = false;
  int64_t n_best = 0;  // 0: one a line, without the line's index
};

// The fourth decimal is not the sentence's alone: sums of float32 logits are rounded in another
// order in another batch.
std::string three_decimals(double value) { return formatted("%.3f", value); }

void write(const std::vector<Translation>& translations, int64_t index, const Format& format) {
  const int64_t count = std::clamp(format.n_best, int64_t{1}, std::ssize(translations));
  for (int64_t i = 0; i < count; ++i) {
    const auto& each = translations[static_cast<size_t>(i)];
    if (format.n_best > 0) std::cout << index << "\t";
    if (format.scores) std::cout << three_decimals(each.log_probability) << "\t";
    if (format.scores || format.n_best > 0) std::cout << three_decimals(each.score) << "\t";
    std::cout << each.text << "\n";
  }
}

std::string decoding_defaults() {
  std::string text;
  const Json defaults = to_json(DecodingConfig{});
  for (const auto& [key, value] : defaults.items()) {
    text +=
        " decoding." + key + "=" + (value.is_string() ? value.get<std::string>() : text_of(value));
  }
  return text;
}

}  // namespace

int translate_command(int argc, char** argv) {
  cxxopts::Options options("transformer translate");
  add_model_options(options);
  options.add_options()(
      "scores",
      "before each translation its log-probability and score, to three decimals and with "
      "tabs; float32 holds no more whatever the batch")(
      "n-best",
      "the best N translations of each line, a line each: the index of the input line, from 0, "
      "the score to three decimals and the text, with tabs",
      cxxopts::value<std::string>());
  const auto arguments = parse(
      options,
      {.name = "translate",
       .summary = "Translates standard input, a sentence a line, to standard output, in order and "
                  "as lines come.\n\nDecoding is as the model's config says; unless it does:\n " +
                  decoding_defaults(),
       .usage = "--checkpoint RUN [key=value...] < INPUT",
       .example = "transformer translate --checkpoint runs/small decoding.beam=8 "
                  "< data/small/test.en > test.hyp",
       .most = 0,
       .with_overrides = true},
      argc, argv);
  if (!arguments) return 0;
  auto loaded = load_model(*arguments);
  expect_translates(loaded.config.model, "translate");
  const auto& decoding = loaded.translator.decoding;
  Format format{.scores = arguments->has("scores")};
  if (arguments->has("n-best")) {
    format.n_best = arguments->integer("n-best", 1);
    if (format.n_best > decoding.beam) {
      throw UserError("--n-best: " + std::to_string(format.n_best) +
                      " translations need a beam as "
                      "wide; decoding.beam is " +
                      std::to_string(decoding.beam) +
                      ": raise it with decoding.beam=" + std::to_string(format.n_best));
    }
  }
  constexpr size_t kBatchesAhead = 16;  // sorted by length together
  const auto most = kBatchesAhead * static_cast<size_t>(decoding.sentences_per_batch);
  const Interrupts interrupts(Interrupts::Second::ends_the_process);
  const auto& stop = interrupts.asked();
  LineReader input("-", &stop);
  int64_t index = 0;
  while (true) {
    const auto lines = lines_there(input, most);
    if (lines.empty() || stop) break;
    // What came before a bad line is translated all the same.
    const auto sources = encode(loaded.translator, lines);
    for (const auto& translations : translate(loaded.translator, sources.pieces, {.stop = &stop})) {
      if (translations.empty()) break;  // stopped before this one
      write(translations, index++, format);
    }
    std::cout.flush();
    if (!std::cout) throw Failure("standard output: cannot write");
    if (sources.problem && !stop) {
      throw UserError(input.name() + ": line " + std::to_string(index + 1) + ": " +
                      *sources.problem);
    }
  }
  return interrupts.exit_code();
}

}  // namespace transformer
