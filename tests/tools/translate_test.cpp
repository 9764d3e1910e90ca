#include <algorithm>
#include <sstream>

#include "tests/catch.h"
#include "tests/tools/program.h"
#include "tests/tools/workplace.h"
#include "transformer/files.h"

using namespace transformer;
using Catch::Matchers::Contains;

namespace {

// A tiny model, hardly trained.
class TranslationPlace {
 public:
  TranslationPlace() {
    const auto trained =
        place_.train("run", {"data.test=" + place_.file("data/test"), "decoding.beam=4"});
    INFO(trained.err);
    REQUIRE(trained.code == 0);
  }
  std::string file(const std::string& name) const { return place_.file(name); }
  Outcome run(std::vector<std::string> words, const std::string& input = "",
              const std::string& before = "") const {
    words.insert(words.begin() + 1, {"--checkpoint", file("run")});
    return run_program(words, input, before);
  }

 private:
  Workplace place_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// A length penalty that always promises more: searches of it go on for ever.
const std::vector<std::string> kEndless = {"decoding.alpha=100", "decoding.max_extra_length=900000",
                                           "decoding.tokens_per_batch=100000000",
                                           "decoding.sentences_per_batch=1"};

std::vector<std::string> endless(std::vector<std::string> words) {
  words.insert(words.end(), kEndless.begin(), kEndless.end());
  return words;
}

}  // namespace

TEST_CASE("translate: n-best lists, best first, of every line", "[e2e]") {
  const TranslationPlace place;
  const std::string input = "the\n\nthe old man\n";
  const auto best = lines_of(place.run({"translate", "--scores"}, input).out);
  const auto list = place.run({"translate", "--n-best", "3"}, input);
  INFO(list.err);
  REQUIRE(list.code == 0);
  REQUIRE(best.size() == 3);
  REQUIRE(lines_of(list.out).size() == 7);  // three of each line that says something
  double last = 0;
  std::string index;
  for (const auto& line : lines_of(list.out)) {
    std::istringstream fields(line);
    std::string number, score, text;
    std::getline(fields, number, '\t');
    std::getline(fields, score, '\t');
    std::getline(fields, text);
    if (number == index) {
      REQUIRE(std::stod(score) <= last);
    } else {  // the best is the one that translate gives
      REQUIRE_THAT(best[std::stoul(number)], Catch::Matchers::EndsWith("\t" + score + "\t" + text));
    }
    index = number;
    last = std::stod(score);
  }
  REQUIRE(index == "2");
  REQUIRE(place.run({"translate", "--n-best", "5"}).code == 2);  // more than the beam
}

TEST_CASE("translate: a line and a beam too large for memory are refused by rule", "[e2e]") {
  const TranslationPlace place;
  const auto wide = place.run({"translate", "decoding.beam=10000"}, "the\n");
  REQUIRE(wide.code == 2);
  REQUIRE_THAT(wide.err, Contains("decoding.beam: 10000") && Contains("6250 would"));
  std::string line = "the";
  for (int i = 0; i < 12000; ++i) line += " the";
  const auto lengthy = place.run({"translate"}, "the\n" + line + "\nthe\n");
  REQUIRE(lengthy.code == 2);
  REQUIRE_THAT(lengthy.err, Contains("standard input: line 2:") && Contains("allows 6247"));
  REQUIRE(lines_of(lengthy.out).size() == 1);
  const auto scored =
      place.run({"score", "--source", "-", "--target", place.file("long")}, "the\n");
  REQUIRE(scored.code == 2);
}

TEST_CASE("interrupt: translate, score and evaluate end at once and keep what is done", "[e2e]") {
  const TranslationPlace place;
  const std::string has_16 = "[ $(wc -l < /proc/$$/fd/1) -ge 16 ]";
  const auto translated = place.run(endless({"translate"}), std::string(16, '\n') + "the\n",
                                    signalled_once("TERM", has_16));
  INFO(translated.err);
  REQUIRE(translated.code == 143);
  REQUIRE(translated.out == std::string(16, '\n'));
  // Both ends of its input stay open: after a line it waits for more.
  const std::string pipe = place.file("pipe");
  const auto waiting = place.run({"translate"}, "",
                                 "mkfifo " + pipe + " && exec 4<>" + pipe + " && echo >&4 && " +
                                     signalled_once("INT", "[ -s /proc/$$/fd/1 ]") + " <&4");
  REQUIRE(waiting.code == 130);
  const auto evaluated =
      place.run(endless({"evaluate"}), "", "timeout --preserve-status -k 20 -s INT 2");
  REQUIRE(evaluated.code == 130);
  REQUIRE(evaluated.out.empty());
}

TEST_CASE("score: standard input, and lines that do not match", "[e2e]") {
  const TranslationPlace place;
  const auto read = [&](const char* name) { return read_file(place.file(name)); };
  const std::string source = place.file("data/test.en"), target = place.file("data/test.de");
  const auto files = place.run({"score", "--source", source, "--target", target});
  INFO(files.err);
  REQUIRE(files.code == 0);
  REQUIRE(lines_of(files.out).size() == 12);
  const auto piped =
      place.run({"score", "--source", source, "--target", "-"}, read("data/test.de"));
  REQUIRE(piped.out == files.out);
  const auto fewer = place.run({"score", "--source", source, "--target", "-"}, "a\nb\n");
  REQUIRE(fewer.code == 2);
  REQUIRE_THAT(fewer.err, Contains("one ends after line 2"));
  REQUIRE(place.run({"score", "--source", "-", "--target", "-"}, "a\n").code == 2);
}

TEST_CASE("evaluate: its hypotheses write over nothing that was not meant", "[e2e]") {
  const TranslationPlace place;
  const std::string file = place.file("hypotheses");
  const auto evaluate = [&](const std::string& out, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"evaluate", "--hypotheses", out, "decoding.beam=1"});
    return place.run(more);
  };
  const auto shown = evaluate("/dev/stdout");
  INFO(shown.err);
  REQUIRE(shown.code == 0);
  REQUIRE(lines_of(shown.out).size() == 12 + 4);
  REQUIRE(evaluate(file).code == 0);
  const std::string text = transformer::read_file(file);
  REQUIRE(shown.out.starts_with(text));
  write_file(file, "mine");
  // Said before the work, which here would have no end.
  const auto refused_at_once = [&](const std::string& out, int code, const std::string& message,
                                   std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"evaluate", "--hypotheses", out});
    refused(place.run(endless(more), "", "timeout 60"), code, message);
  };
  refused_at_once(file, 2, "hypotheses: exists; --force writes over it");
  refused_at_once(place.file("none/hypotheses"), 1, "cannot write: No such file");
  refused_at_once(place.file("data"), 2, "data: expected a file to write; it is a folder");
  refused_at_once(place.file("data/test.de"), 2, "is one of the files that it would be made from",
                  {"--force"});
  REQUIRE(transformer::read_file(file) == "mine");
  REQUIRE(evaluate(file, {"--force"}).code == 0);
  REQUIRE(transformer::read_file(file) == text);

  const auto average = [&](const std::string& out) {
    return run_program({"average", place.file("run"), "--out", out, "--force"});
  };
  refused(average("/dev/null"), 2, "/dev/null: expected a file to write; it is a device");
  refused(run_program({"bench", "decode", "--checkpoint", place.file("run"), "--hypotheses", file}),
          2, "hypotheses: exists; --force");
  refused(run_program({"bench", "decode", "--checkpoint", place.file("run"), "--save", file}), 2,
          "hypotheses: exists; --force");
}
