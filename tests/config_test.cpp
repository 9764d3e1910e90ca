#include "transformer/config.h"

#include <sys/stat.h>

#include <chrono>
#include <fstream>

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/files.h"

using namespace transformer;
using Catch::Matchers::Contains;

namespace {

Config from_text(const std::string& text) {
  return resolve(from_json<Config>(parse_json(text, "x")));
}

}  // namespace

TEST_CASE("config: the defaults are the paper's base model") {
  const Config config = resolve(Config{});
  REQUIRE(config.model.d_k == 64);
  REQUIRE(config.model.d_v == 64);
  REQUIRE(config.model.kv_heads == 8);
}

TEST_CASE("config: base.json states every key, and every value is the default or WMT14's") {
  const std::string file = std::string(TRANSFORMER_SOURCE) + "/configs/base.json";
  const Json json = read_json(file);
  for (const auto& key : known_keys<Config>()) {
    const size_t dot = key.find('.');
    INFO(key);
    REQUIRE(json.at(key.substr(0, dot)).contains(key.substr(dot + 1)));
  }
  Config config = load_config(file);
  REQUIRE(config.model.V == 37000);
  config.model.V = config.model.source_V = Derived();
  config.data = {};
  REQUIRE(config == resolve(Config{}));
}

TEST_CASE("config: docs/config.md tells every key") {
  const std::string text = read_file(std::string(TRANSFORMER_SOURCE) + "/docs/config.md");
  for (const auto& key : known_keys<Config>()) {
    INFO(key);
    REQUIRE(text.find("`" + key.substr(key.find('.') + 1) + "`") != std::string::npos);
  }
}

TEST_CASE("config: writing and reading is the identity") {
  Config config;
  config.model.d_k = 16;
  config.model.norm_placement = NormPlacement::pre;
  config.data.train = {"a", "b"};
  REQUIRE(from_json<Config>(to_json(config)) == config);
}

TEST_CASE("config: mistakes name the key, what was read and what is allowed") {
  const auto refused = [](const std::string& json, const std::string& message) {
    INFO(json);
    REQUIRE_THROWS_WITH(from_text(json), Contains(message));
  };
  refused(R"({"model": {"norm_placement": "prenorm"}})",
          "model.norm_placement: \"prenorm\" is not one of: post, pre, deepnorm, b2t");
  refused(R"({"model": {"dk": 16}})", "model.dk: unknown key; did you mean d_k?");
  refused(R"({"modle": {}})", "modle: unknown key; did you mean model?");
  refused(R"({"model": {"h": 8.0}})", "model.h: expected an integer; got 8.0");
  refused(R"({"model": {"h": true}})", "model.h: expected an integer; got true");
  refused(R"({"model": {"h": 18446744073709551615}})", "model.h: expected an integer");
  refused(R"({"model": {"P_drop": 1}})", "model.P_drop: 1.0 is not in [0, 1)");
  refused(R"({"model": {"h": 0}})", "model.h: 0 is not in 1..");
  refused(R"({"model": {"h": 7}})",
          "model.h: 7 does not divide model.d_model = 512; state model.d_k");
  refused(R"({"model": {"kv_heads": 3}})", "model.kv_heads: 3 does not divide model.h = 8");
  refused(R"({"model": {"d_model": 33, "h": 3}})", "model.d_model: 33 is odd");
  refused(R"({"model": {"d_k": 33, "positions": "rope"}})",
          "model.d_k: 33 is odd; rope positions need pairs of columns");
  refused(R"({"model": {"V": 10, "source_V": 20}})", "model.tie_embeddings");
  refused(R"({"training": {"beta2": "0.98"}})", "training.beta2: expected a number; got \"0.98\"");
  refused(R"({"training": {"seed": -5}})", "training.seed: -5 is not in 1..");
  refused(R"([])", "expected an object; got []");
  refused(R"({"model": {"h": 4, "h": 8}})", "\"h\" is given twice");
  refused(R"({"model": {"P_drop": 1e999}})", "a number in it is too large");
  refused(std::string("{}\0{", 4), "not JSON: line 1, column 3");
  refused("{\"model\":\n  {\"h\": }}", "not JSON: line 2, column 9");
  refused("", "not JSON: line 1, column 1");
  refused("{\n", "not JSON: line 2, column 1");
  refused("{\"a\nb\": 1}", "not JSON: line 1, column 4");
}

TEST_CASE("config: overrides read values as JSON and paths as text") {
  Config config;
  override_config(config, {"model.h=4", "model.d_k=null", "model.norm_placement=pre",
                           "data.vocabulary=1", "data.train=[\"a\",\"b\"]", "training.epsilon=1e-8",
                           "model.tie_embeddings=false", "data.valid="});
  REQUIRE(config.model.h == 4);
  REQUIRE_FALSE(config.model.d_k.stated());
  REQUIRE(config.model.norm_placement == NormPlacement::pre);
  REQUIRE(config.data.vocabulary == "1");
  REQUIRE(config.data.train == std::vector<std::string>{"a", "b"});
  REQUIRE(config.training.epsilon == 1e-8);
  REQUIRE_FALSE(config.model.tie_embeddings);
  REQUIRE_THROWS_WITH(override_config(config, {"model.hh=4"}),
                      "model.hh: unknown key; did you mean model.h?");
  REQUIRE_THROWS_WITH(override_config(config, {"model.h=four"}),
                      "model.h: expected an integer; got \"four\"");
  REQUIRE_THROWS_WITH(override_config(config, {"model.h"}), Contains("expected section.key=value"));
}

TEST_CASE("config: an override that is not UTF-8 is refused by its key, whatever the key") {
  Config config;
  REQUIRE_THROWS_WITH(override_config(config, {"data.train=data/\xff/train"}),
                      "data.train: expected UTF-8; got \"data/\\xff/train\"");
  for (const auto& key : known_keys<Config>()) {
    for (const char* value : {"\xff", "[\"a\", \"\xff\"]"}) {
      INFO(key << "=" << value);
      REQUIRE_THROWS_AS(override_config(config, {key + "=" + value}), UserError);
      REQUIRE_THROWS_WITH(override_config(config, {key + "=" + value}),
                          Catch::Matchers::StartsWith(key + ": "));
    }
  }
  REQUIRE(config == Config());
  REQUIRE_THROWS_WITH(from_text("{\"data\": {\"valid\": \"\xff\"}}"), Contains("not JSON: line 1"));
}

TEST_CASE("config: a key given twice is refused, the same value too") {
  Config config;
  REQUIRE_THROWS_WITH(override_config(config, {"model.h=1", "model.N=2", "model.h=1"}),
                      "command line: model.h is given twice");
}

TEST_CASE("json: text that is not UTF-8 can be written, and reads back as UTF-8") {
  const Json json = {{"path", "a\xff/b"}, {"n", 1}};
  REQUIRE(text_of(json) == "{\"path\":\"a\xef\xbf\xbd/b\",\"n\":1}");
  REQUIRE(text_of({{"n", 1}}, 2) == "{\n  \"n\": 1\n}");
  REQUIRE(parse_json(text_of(json), "x")["path"] == "a\xef\xbf\xbd/b");
}

TEST_CASE("config: a file says what differs from its base") {
  const auto folder = std::filesystem::temp_directory_path() / "transformer_config_test";
  std::filesystem::create_directories(folder / "inner");
  std::ofstream(folder / "base.json") << R"({"model": {"h": 4, "N": 3}})";
  std::ofstream(folder / "inner" / "child.json")
      << R"({"base": "../base.json", "model": {"N": 2}})";
  const Config config = load_config(folder / "inner" / "child.json", {"training.seed=7"});
  REQUIRE(config.model.h == 4);
  REQUIRE(config.model.N == 2);
  REQUIRE(config.training.seed == 7);

  const auto blamed = [&](const std::string& text, const std::vector<std::string>& overrides) {
    std::ofstream(folder / "own.json") << text;
    try {
      load_config(folder / "own.json", overrides);
      return std::string("nobody");
    } catch (const UserError& error) {
      const std::string message = error.what();
      return message.starts_with("command line: model.") ? std::string("command line")
             : message.starts_with((folder / "own.json").string() + ": model.")
                 ? std::string("file")
                 : message;
    }
  };
  REQUIRE(blamed(R"({"model": {"h": 3}})", {}) == "file");
  REQUIRE(blamed(R"({"model": {"h": 3}})", {"training.seed=7"}) == "file");
  REQUIRE(blamed(R"({"model": {"h": 4}})", {"model.h=3"}) == "command line");
  REQUIRE(blamed(R"({"model": {"h": 4}})", {"model.d_model=31"}) == "command line");
  REQUIRE(blamed(R"({"model": {"h": 3}})", {"model.h=4", "model.P_drop=1"}) == "command line");
  REQUIRE(blamed(R"({"model": {"h": 3}})", {"model.h=4"}) == "nobody");

  std::ofstream(folder / "circle.json") << R"({"base": "circle.json"})";
  REQUIRE_THROWS_WITH(read_config(folder / "circle.json"), Contains("in a circle"));
  REQUIRE_THROWS_WITH(read_config(folder / "missing.json"), Contains("missing.json: cannot open"));
  std::filesystem::remove_all(folder);
}

TEST_CASE("json: the time to read an object grows with its keys, not with their square") {
  std::string text = "{";
  constexpr int kKeys = 200'000;
  for (int i = 0; i < kKeys; ++i) text += (i == 0 ? "\"" : ", \"") + std::to_string(i) + "\": 1";
  const auto start = std::chrono::steady_clock::now();
  const Json json = parse_json(text + "}", "x");
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  REQUIRE(json.size() == kKeys);
  REQUIRE(time.count() < 5);  // half a minute by the library's own reader
  REQUIRE_THROWS_WITH(parse_json(text + ", \"7\": 2}", "x"), Contains("\"7\" is given twice"));
}

TEST_CASE("json: depth is bounded, on the command line too") {
  const auto nested = [](size_t deep) { return std::string(deep, '[') + std::string(deep, ']'); };
  REQUIRE(json_in(nested(100)));
  REQUIRE_THROWS_WITH(parse_json(nested(101), "x"), "x: values nested more than 100 deep");
  Config config;
  REQUIRE_THROWS_WITH(override_config(config, {"model.h=" + nested(60'000)}),
                      Contains("model.h: expected an integer; got \"[[["));
}

TEST_CASE("config: a base is a regular file, and its name the one that is opened") {
  const TemporaryFolder folder;
  const auto path = folder / "config.json";
  write_file(folder / "base.json", "{}");
  const auto refused = [&](const std::string& base, const std::string& message) {
    write_file(path, "{\"base\": \"" + base + "\"}");
    REQUIRE_THROWS_WITH(read_config(path), Contains(message));
  };
  refused("base.json\\u0000.txt",
          "base: expected text without a NUL; got \"base.json\\u0000.txt\"");
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  refused("pipe", "pipe is not a regular file");  // somebody might write to it for ever
  refused("/dev/zero", "/dev/zero is not a regular file");
  for (int i = 0; i < 200; ++i) {
    write_file(folder / (std::to_string(i) + ".json"),
               "{\"base\": \"" + std::to_string(i + 1) + ".json\"}");
  }
  refused("0.json", "more than 100 files, each the base of the one before");
}
