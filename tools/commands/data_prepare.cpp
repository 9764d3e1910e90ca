#include <iomanip>
#include <iostream>

#include "tools/commands/arguments.h"
#include "tools/commands/data_commands.h"
#include "transformer/config.h"
#include "transformer/data/dataset.h"

namespace transformer {

namespace {

Json figures(const std::string& set, const Prepared& prepared) {
  Json json{{"set", set}, {"file", prepared.file.string()}};
  json.update(to_json(prepared.corpus.cleaned()));
  json["source_tokens"] = prepared.corpus.source_tokens();
  json["target_tokens"] = prepared.corpus.target_tokens();
  json["fingerprint"] = prepared.corpus.fingerprint();
  return json;
}

void print_table(const Json& sets) {
  const std::vector<std::string> keys{"set",       "kept",  "invalid_utf8",  "empty",
                                      "over_long", "ratio", "source_tokens", "target_tokens"};
  for (size_t i = 0; i < keys.size(); ++i) {
    std::cout << (i == 0 ? std::left : std::right) << std::setw(i == 0 ? 8 : 15) << keys[i];
  }
  std::cout << "\n";
  for (const auto& set : sets) {
    for (size_t i = 0; i < keys.size(); ++i) {
      const Json& value = set[keys[i]];
      std::cout << (i == 0 ? std::left : std::right) << std::setw(i == 0 ? 8 : 15)
                << (value.is_string() ? value.get<std::string>() : text_of(value));
    }
    std::cout << "\n";
  }
}

}  // namespace

int data_prepare_command(int argc, char** argv) {
  cxxopts::Options options("transformer data prepare");
  options.add_options()("json", "print the figures as JSON");
  const auto arguments = parse(
      options,
      {.name = "data prepare",
       .summary =
           "Cleans and binarises the text of a config now, where train would do it first, and "
           "counts what was dropped, by reason.",
       .usage = "CONFIG [key=value...]",
       .example = "transformer data prepare configs/base.json --json",
       .fewest = 1,
       .most = 1,
       .with_overrides = true},
      argc, argv);
  if (!arguments) return 0;
  const Config config = load_config(arguments->positional[0], arguments->overrides);
  const auto& data = config.data;
  const auto [source, target] = open_vocabularies(config);
  Json sets = Json::array();
  const auto note = [&](const Prepared& prepared) {
    if (!prepared.note.empty())
      std::cerr << prepared.file.string() << ": " << prepared.note << "\n";
  };
  const auto add = [&](const std::string& name, const Prepared& prepared) {
    note(prepared);
    sets.push_back(figures(name, prepared));
  };
  add("train", prepare_training(data, source, target));
  if (!data.valid.empty()) add("valid", prepare_evaluation(data.valid, data, source, target));
  if (!data.test.empty()) add("test", prepare_evaluation(data.test, data, source, target));
  if (arguments->has("json")) {
    std::cout << text_of({{"sets", sets}}, 2) << "\n";
  } else {
    print_table(sets);
  }
  return 0;
}

}  // namespace transformer
