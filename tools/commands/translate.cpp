#include "transformer/decode/translate.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

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
  // At least one line unless the input has ended; then as many as are there, `most` at most.
  std::vector<std::string> next(size_t most) {
    std::vector<std::string> lines;
    while (lines.size() < most) {
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
    if (count < 0) throw Failure("standard input: cannot read");
    if (count == 0) {
      ended_ = true;
      if (!buffer_.empty()) buffer_ += '\n';  // a last line without its end
      return;
    }
    buffer_.append(bytes, static_cast<size_t>(count));
  }

  std::string buffer_;
  size_t start_ = 0;
  bool ended_ = false;
};

}  // namespace

int translate_command(int argc, char** argv) {
  cxxopts::Options options("transformer translate");
  add_model_options(options);
  options.add_options()("scores",
                        "before each translation its log-probability and score, with tabs");
  const auto arguments = parse(
      options,
      {.name = "translate",
       .summary = "Translates standard input to standard output, a sentence a line, in order.",
       .usage = "--checkpoint RUN [key=value...] < INPUT > OUTPUT",
       .example = "transformer translate --checkpoint runs/small decoding.beam=8 "
                  "< data/small/test.en > test.hyp",
       .most = 0,
       .with_overrides = true},
      argc, argv);
  if (!arguments) return 0;
  auto loaded = load_model(*arguments);
  constexpr size_t kBatchesAhead = 16;  // sorted by length together
  const auto most =
      kBatchesAhead * static_cast<size_t>(loaded.translator.decoding.sentences_per_batch);
  Lines input;
  int64_t number = 0;
  for (auto lines = input.next(most); !lines.empty(); lines = input.next(most)) {
    // What came before a bad line is translated all the same.
    const auto bad = std::find_if_not(lines.begin(), lines.end(), is_utf8);
    const int64_t bad_number = number + (bad - lines.begin()) + 1;
    const bool is_bad = bad != lines.end();
    number += std::ssize(lines);
    lines.erase(bad, lines.end());
    for (const auto& translation : translate(loaded.translator, lines)) {
      if (arguments->has("scores")) {
        std::cout << translation.log_probability << "\t" << translation.score << "\t";
      }
      std::cout << translation.text << "\n";
    }
    std::cout.flush();
    if (!std::cout) throw Failure("standard output: cannot write");
    if (is_bad) {
      throw UserError("standard input: line " + std::to_string(bad_number) + ": expected UTF-8");
    }
  }
  return 0;
}

}  // namespace transformer
