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

TEST_CASE("evaluate, score: a line that is too long is named by file and number", "[e2e]") {
  const TranslationPlace place;
  const auto both = [&](const std::string& source, const std::string& target) {
    write_file(place.file("long.en"), "the\n" + source + "\n");
    write_file(place.file("long.de"), "das\n" + target + "\n");
    const std::string key = "decoding.tokens_per_batch=400";
    return std::pair(place.run({"evaluate", "--data", place.file("long"), key}),
                     place.run({"score", "--source", place.file("long.en"), "--target", "-", key},
                               "das\n" + target + "\n"));
  };
  const std::string pieces(500, 'x');  // too rare to be learned together
  const auto [source, scored_source] = both(pieces, "das");
  refused(source, 2, place.file("long.en") + ": line 2: ");
  refused(scored_source, 2, place.file("long.en") + ": line 2: ");
  const auto [target, scored_target] = both("the", pieces);
  refused(target, 2, place.file("long.de") + ": line 2: ");
  refused(scored_target, 2, "standard input: line 2: ");
  REQUIRE_THAT(target.err, Contains("decoding.tokens_per_batch = 400"));
}

TEST_CASE("translate: standard input is read as files are", "[e2e]") {
  const TranslationPlace place;
  const auto plain = place.run({"translate"}, "the old man\nthe\n");
  REQUIRE(plain.code == 0);
  const auto marked = place.run({"translate"}, "\xef\xbb\xbfthe old man\r\nthe");
  REQUIRE(marked.out == plain.out);
  refused(place.run({"translate"}, "", "exec < / &&"), 2,
          "standard input: cannot read: Is a directory");
  for (const std::string reader : {"translate", "score"}) {
    std::vector<std::string> words = {reader};
    if (reader == "score") {
      words.insert(words.end(), {"--source", "-", "--target", place.file("data/test.de")});
    }
    refused(place.run(words, "", "exec <&- &&"), 2,
            "standard input: cannot read: Bad file descriptor");
  }
  const auto closed = place.run({"translate"}, "the\n", "exec >&- &&");
  REQUIRE(closed.code == 1);
  REQUIRE_THAT(closed.err, Contains("standard output: cannot write"));
}

TEST_CASE("translate: scores have the digits that hold in any batch", "[e2e]") {
  const TranslationPlace place;
  const std::string input = read_file(place.file("data/test.en"));
  const auto scores = [&](int batch) {
    const auto outcome = place.run(
        {"translate", "--scores", "decoding.sentences_per_batch=" + std::to_string(batch)}, input);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return lines_of(outcome.out);
  };
  const auto one = scores(1);
  REQUIRE(one.size() == 12);
  for (const int batch : {2, 7, 32}) {
    const auto several = scores(batch);
    REQUIRE(several.size() == one.size());
    for (size_t i = 0; i < one.size(); ++i) {
      std::istringstream here(several[i]), there(one[i]);
      for (int k = 0; k < 2; ++k) {
        std::string left, right;
        std::getline(here, left, '\t');
        std::getline(there, right, '\t');
        REQUIRE(left.size() - left.find('.') == 4);
        // Equal but where a value lies on the border between two.
        REQUIRE(std::stod(left) == Approx(std::stod(right)).margin(0.00101).epsilon(0));
      }
    }
  }
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
