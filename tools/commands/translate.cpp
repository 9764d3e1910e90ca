#include "transformer/decode/translate.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iostream>
#include <string>
#include <vector>

#include "experiments/interrupts.h"
#include "tools/commands/commands.h"
#include "tools/commands/model_options.h"
#include "transformer/data/utf8.h"
#include "transformer/error.h"

namespace transformer {

namespace {

// Lines of standard input as they come: a reader who waits for each answer gets it, and a file is
// read in large pieces.
class Lines {
 public:
  explicit Lines(const std::atomic<bool>& stop) : stop_(stop) {}

  // At least one line unless the input has ended or a signal came; then as many as are there,
  // `most` at most.
  std::vector<std::string> next(size_t most) {
    std::vector<std::string> lines;
    while (lines.size() < most && !stop_) {
      const size_t end = buffer_.find('\n', start_);
      if (end != std::string::npos) {
        lines.push_back(buffer_.substr(start_, end - start_));
        start_ = end + 1;
        if (lines.back().ends_with('\r')) lines.back().pop_back();
      } else if (ended_ || (!lines.empty() && !more_is_there())) {
        break;
      } else {
        fill();
      }
    }
    return lines;
  }

 private:
  static bool more_is_there() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, 0) > 0;
  }

  void fill() {
    buffer_.erase(0, start_);
    start_ = 0;
    char bytes[1 << 16];
    const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) return;
    if (count < 0) throw Failure("standard input: cannot read");
    if (count == 0) {
      ended_ = true;
      if (!buffer_.empty()) buffer_ += '\n';  // a last line without its end
      return;
    }
    buffer_.append(bytes, static_cast<size_t>(count));
  }

  const std::atomic<bool>& stop_;
  std::string buffer_;
  size_t start_ = 0;
  bool ended_ = false;
};

// Lines as word-pieces, up to the first that cannot be translated.
struct Sources {
  std::vector<std::vector<int32_t>> pieces;
  std::optional<std::string> problem;  // of the line behind them
};

Sources encode(const Translator& translator, const std::vector<std::string>& lines) {
  Sources sources;
  for (const auto& line : lines) {
    if (!is_utf8(line)) {
      sources.problem = "expected UTF-8";
      break;
    }
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

void write(const std::vector<Translation>& translations, int64_t index, const Format& format) {
  const int64_t count = std::clamp(format.n_best, int64_t{1}, std::ssize(translations));
  for (int64_t i = 0; i < count; ++i) {
    const auto& each = translations[static_cast<size_t>(i)];
    if (format.n_best > 0) std::cout << index << "\t";
    if (format.scores) std::cout << each.log_probability << "\t";
    if (format.scores || format.n_best > 0) std::cout << each.score << "\t";
    std::cout << each.text << "\n";
  }
}

std::string decoding_defaults() {
  std::string text;
  const Json defaults = to_json(DecodingConfig{});
  for (const auto& [key, value] : defaults.items()) {
    text +=
        " decoding." + key + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

}  // namespace

int translate_command(int argc, char** argv) {
  cxxopts::Options options("transformer translate");
  add_model_options(options);
  options.add_options()("scores",
                        "before each translation its log-probability and score, with tabs")(
      "n-best",
      "the best N translations of each line, a line each: the index of the input line, from 0, "
      "the score and the text, with tabs",
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
  const auto& decoding = loaded.translator.decoding;
  Format format{.scores = arguments->has("scores")};
  if (arguments->has("n-best")) {
    format.n_best = arguments->integer("n-best", 1, decoding.beam);
  }
  constexpr size_t kBatchesAhead = 16;  // sorted by length together
  const auto most = kBatchesAhead * static_cast<size_t>(decoding.sentences_per_batch);
  const Interrupts interrupts(Interrupts::Second::ends_the_process);
  const auto& stop = interrupts.asked();
  Lines input(stop);
  int64_t index = 0;
  for (auto lines = input.next(most); !lines.empty() && !stop; lines = input.next(most)) {
    // What came before a bad line is translated all the same.
    const auto sources = encode(loaded.translator, lines);
    for (const auto& translations : translate(loaded.translator, sources.pieces, {.stop = &stop})) {
      if (translations.empty()) break;  // stopped before this one
      write(translations, index++, format);
    }
    std::cout.flush();
    if (!std::cout) throw Failure("standard output: cannot write");
    if (sources.problem && !stop) {
      throw UserError("standard input: line " + std::to_string(index + 1) + ": " +
                      *sources.problem);
    }
  }
  return interrupts.exit_code();
}

}  // namespace transformer
