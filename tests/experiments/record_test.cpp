#include "experiments/record.h"

#include <unistd.h>

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/sealed_json.h"

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using namespace transformer;

namespace {

const std::string kResult = R"("parameters": 65150000, "perplexity": 4.92, "bleu": 25.8,
  "bleu_signature": "nrefs:1", "train_steps": 100000, "source_tokens": 10, "target_tokens": 20,
  "seconds": 1.5, "tokens_per_second": 20, "flops": 3.3e18, "peak_memory_bytes": 1024, "seed": 7,
  "threads": 2, "config_fingerprint": "a", "data_fingerprint": "b", "vocabulary_fingerprint": "c",
  "version": "0.1.0", "commit": "d", "machine": {"cpu": "x", "cores": 2, "memory_bytes": 3,
  "vector_width": "avx2", "system": "Linux"}, "config": {"model": {"N": 6}})";

std::string results_with(const std::string& rows, const std::string& runs) {
  return R"({"schema_version": 1, "sweep": {"seeds": [7]}, "rows": [)" + rows +
         R"(], "results": [)" + runs + "]}";
}

}  // namespace

TEST_CASE("record: a result is read back as written, schema version first") {
  const TemporaryFolder folder;
  write_file(folder / "by-hand.json", R"({"schema_version": 1, )" + kResult + "}");
  const Result result = read_result(folder / "by-hand.json");
  REQUIRE(result.parameters == 65150000);
  REQUIRE(result.perplexity == 4.92);
  REQUIRE(result.flops == 3.3e18);
  REQUIRE(result.machine.vector_width == "avx2");
  REQUIRE(result.config["model"]["N"] == 6);

  write_result(folder / "result.json", result);
  REQUIRE(read_json(folder / "result.json").begin().key() == "schema_version");
  REQUIRE(to_json(read_result(folder / "result.json")) == to_json(result));
}

TEST_CASE("record: a flipped digit, a cut and a lost checksum are damage; another version is not") {
  const TemporaryFolder folder;
  const fs::path path = folder / "result.json";
  write_file(path, R"({"schema_version": 1, )" + kResult + "}");
  const Result result = read_result(path);  // as an earlier version wrote it: without a checksum
  write_result(path, result);
  const std::string text = read_file(path);
  const auto damaged = [&](std::string changed, const std::string& message) {
    write_file(path, changed);
    REQUIRE_THROWS_AS(read_result(path), Damaged);
    REQUIRE_THROWS_WITH(read_result(path), Contains(path.string()) && Contains(message));
  };
  std::string flipped = text;
  flipped.replace(flipped.find("25.8"), 4, "26.8");
  damaged(flipped, "do not match its checksum");
  damaged(text.substr(0, text.size() / 2), "not JSON");
  damaged("", "not JSON");
  damaged(R"({"schema_version": 1})", "missing");

  const auto is_other = [&](Json json) {
    write_json(path, sealed(std::move(json)));
    try {
      read_result(path);
    } catch (const Damaged&) {
      return false;
    } catch (const UserError&) {
      return true;
    }
    return false;
  };
  REQUIRE(is_other({{"schema_version", 2}}));
  Json later = parse_json(text, "text");
  later["chrf"] = 50;
  REQUIRE(is_other(later));
}

TEST_CASE("record: names in a file are shown without what a terminal would obey") {
  const TemporaryFolder folder;
  const fs::path path = folder / "results.json";
  const auto read = [&](const std::string& rows, const std::string& runs) {
    write_file(path, results_with(rows, runs));
    return read_results(path);
  };
  REQUIRE_THROWS_WITH(read(R"({"id": "x", "a\u001b[2J": 1})", ""),
                      Contains(R"(rows[0]: "a\u001b[2J": unknown key)"));
  REQUIRE_THROWS_WITH(read("", R"({"id": "x\u001b", "seed": 1, "state": "missing"})"),
                      Contains(R"(no row is called "x\u001b")"));
  write_file(
      path, "{\"" + std::string(1 << 20, 'k') + "\": 1, \"" + std::string(1 << 20, 'k') + "\": 1}");
  try {
    read_results(path);
    FAIL("a key given twice");
  } catch (const UserError& error) {
    REQUIRE(std::string(error.what()).size() < 300);
  }
}

TEST_CASE("record: a result that does not fit is refused with file and key") {
  const TemporaryFolder folder;
  const fs::path path = folder / "result.json";
  const auto read = [&](const std::string& text) {
    write_file(path, text);
    return read_result(path);
  };
  REQUIRE_THROWS_WITH(read(R"({"schema_version": 2, "shape": "new"})"),
                      path.string() +
                          ": schema_version: this program reads 1; got 2; read it with the version "
                          "of the program that wrote it");
  REQUIRE_THROWS_WITH(read("{" + kResult + "}"), path.string() + ": schema_version: missing");
  REQUIRE_THROWS_WITH(read("[]"), Contains("expected an object"));
  std::string text = R"({"schema_version": 1, )" + kResult + "}";
  text.replace(text.find(R"("cpu": "x", )"), 12, "");
  REQUIRE_THROWS_WITH(read(text), path.string() + ": machine.cpu: missing");
  text = R"({"schema_version": 1, "blue": 3, )" + kResult + "}";
  REQUIRE_THROWS_WITH(read(text), path.string() + ": blue: unknown key; did you mean bleu?");
  text = R"({"schema_version": 1, )" + kResult + "}";
  text.replace(text.find("4.92"), 4, "null");
  REQUIRE_THROWS_AS(read(text), UserError);
  REQUIRE_THROWS_WITH(read(text), Contains("perplexity: expected a number; got null"));
}

TEST_CASE("record: results keep rows and runs in their order, complete or not") {
  const TemporaryFolder folder;
  const std::string rows = R"({"id": "base", "group": "base"},
    {"id": "A-h1", "group": "A", "set": {"model.h": 1}, "paper": {"perplexity": 5.29, "bleu": 24.9}})";
  const std::string runs = R"({"id": "base", "state": "complete", )" + kResult +
                           R"(}, {"id": "A-h1", "seed": 7, "state": "failed"},
    {"id": "A-h1", "seed": 8, "state": "diverged", "step": 41, "message": "not finite"})";
  std::string text = results_with(rows, runs);
  write_file(folder / "by-hand.json", text);
  const Results results = read_results(folder / "by-hand.json");
  REQUIRE(results.rows.size() == 2);
  REQUIRE(results.rows[1].set["model.h"] == 1);
  REQUIRE(results.rows[1].paper.perplexity == 5.29);
  REQUIRE_FALSE(results.rows[1].paper.parameters.has_value());
  REQUIRE(results.results[0].result->bleu == 25.8);
  REQUIRE(results.results[1].state == RunState::failed);
  REQUIRE_FALSE(results.results[1].result.has_value());
  REQUIRE(results.results[2].state == RunState::diverged);
  REQUIRE(results.results[2].diverged_at == 41);
  REQUIRE(results.results[2].message == "not finite");

  write_results(folder / "results.json", results);
  const Results again = read_results(folder / "results.json");
  write_results(folder / "again.json", again);
  REQUIRE(read_file(folder / "again.json") == read_file(folder / "results.json"));
  REQUIRE(again.rows[1].paper == results.rows[1].paper);
  REQUIRE(again.sweep == results.sweep);
}

TEST_CASE("record: results that do not fit are refused with file, place and key") {
  const TemporaryFolder folder;
  const fs::path path = folder / "results.json";
  const auto read = [&](const std::string& rows, const std::string& runs) {
    write_file(path, results_with(rows, runs));
    return read_results(path);
  };
  const std::string base = R"({"id": "base"})";
  REQUIRE_THROWS_WITH(read(base + "," + base, ""),
                      path.string() + ": rows[1]: id: \"base\" is there twice");
  REQUIRE_THROWS_WITH(read(R"({"id": "x", "set": [1]})", ""),
                      path.string() + ": rows[0]: set: expected an object; got [1]");
  REQUIRE_THROWS_WITH(read(R"({"id": "x", "paper": {"ppl": 1}})", ""),
                      Contains("rows[0]: paper.ppl: unknown key"));
  REQUIRE_THROWS_WITH(read(base, R"({"id": "big", "seed": 1, "state": "missing"})"),
                      path.string() + ": results[0]: id: no row is called \"big\"");
  REQUIRE_THROWS_WITH(read(base, R"({"id": "base", "seed": 1, "state": "done"})"),
                      Contains("results[0]: state: \"done\" is not one of: complete, failed"));
  REQUIRE_THROWS_WITH(read(base, R"({"id": "base", "seed": 1, "state": "complete"})"),
                      Contains("results[0]: parameters: missing"));
  REQUIRE_THROWS_WITH(read(base, R"({"id": "base", "seed": 1, "state": "diverged"})"),
                      Contains("results[0]: step: missing"));
  REQUIRE_THROWS_WITH(read(base, R"({"id": "base", "seed": 1, "state": "failed", "bleu": 3})"),
                      Contains("a run that is failed has no result"));
  const std::string missing = R"({"id": "base", "seed": 1, "state": "missing"})";
  REQUIRE_THROWS_WITH(read(base, missing + "," + missing),
                      path.string() + ": results[1]: row \"base\", seed 1: there twice");
  REQUIRE_THROWS_WITH(read(base, "3"), Contains("results[0]: expected an object; got 3"));
}

TEST_CASE("record: a row's id that would lead out of the sweep's folder is refused") {
  const TemporaryFolder folder;
  const fs::path path = folder / "results.json";
  for (const std::string id : {"../x", "/tmp/x", "..", ".", "a/b", "a\\u0000b", "-rf", "$(x)"}) {
    write_file(path, results_with("{\"id\": \"" + id + "\"}", ""));
    INFO(id);
    REQUIRE_THROWS_AS(read_results(path), UserError);
    REQUIRE_THROWS_WITH(read_results(path), Contains("rows[0]: id: "));
  }
}

TEST_CASE("record: a million keys make no table") {
  const TemporaryFolder folder;
  const fs::path path = folder / "results.json";
  std::string set = "\"model.h\": 1";
  for (int i = 0; i < 2000; ++i) set += ", \"" + std::to_string(i) + "\": 1";
  write_file(path, results_with("{\"id\": \"x\", \"set\": {" + set + "}}", ""));
  REQUIRE_THROWS_WITH(read_results(path), Contains("set: the rows set more than 1000 keys"));
  write_file(path, results_with("{\"id\": \"x\", \"config\": {\"model\": {" + set + "}}}", ""));
  REQUIRE_THROWS_WITH(read_results(path), Contains("config: expected at most 1000 keys"));
}
