#include "tests/tools/workplace.h"

#include <algorithm>

#include "tests/catch.h"

Workplace::Workplace() {
  const auto made =
      run_program({"data", "generate", "--out", file("data"), "--words", "20", "--longest", "6",
                   "--pairs", "300", "--valid", "12", "--test", "12"});
  REQUIRE(made.code == 0);
}

std::vector<std::string> Workplace::settings(const std::vector<std::string>& overrides) const {
  std::vector<std::string> words = {"data.train=" + file("data/train"),
                                    "data.valid=" + file("data/valid"),
                                    "data.vocabulary=" + file("data/vocabulary.model"),
                                    "model.V=400",
                                    "model.N=1",
                                    "model.d_model=16",
                                    "model.d_ff=16",
                                    "model.h=2",
                                    "training.train_steps=4",
                                    "training.log_every=1",
                                    "data.tokens_per_batch=300",
                                    "decoding.beam=2",
                                    "decoding.max_extra_length=3"};
  for (const auto& text : overrides) {  // a key may be given once
    const std::string key = text.substr(0, text.find('=') + 1);
    std::erase_if(words, [&](const std::string& word) { return word.starts_with(key); });
    words.push_back(text);
  }
  return words;
}

Outcome Workplace::train(const std::string& out, const std::vector<std::string>& overrides,
                         const std::string& before) const {
  std::vector<std::string> words = {"train", "configs/mini.json", "--out", file(out)};
  const auto more = settings(overrides);
  words.insert(words.end(), more.begin(), more.end());
  return run_program(words, "", before);
}

void refused(const Outcome& outcome, int code, const std::string& message) {
  INFO(outcome.err);
  REQUIRE(outcome.code == code);
  REQUIRE_THAT(outcome.err, Catch::Matchers::Contains(message));
  const size_t last = outcome.err.rfind("transformer: ");
  REQUIRE(last != std::string::npos);
  REQUIRE(std::count(outcome.err.begin() + static_cast<std::ptrdiff_t>(last), outcome.err.end(),
                     '\n') == 1);
}
