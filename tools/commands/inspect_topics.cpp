#include "tools/commands/inspect_topics.h"

#include "transformer/error.h"

namespace transformer {

namespace {

std::optional<Arguments> parse_topic(const InspectTopic& topic, const CommandLine& line, int argc,
                                     char** argv) {
  cxxopts::Options options("transformer " + line.name);
  if (topic.add_options != nullptr) topic.add_options(options);
  options.add_options()("json", "figures as JSON");
  return parse(options, line, argc, argv);
}

}  // namespace

int run_topic(const InspectTopic& topic, int argc, char** argv) {
  const auto arguments = parse_topic(topic, topic.line, argc, argv);
  if (!arguments) return 0;
  const auto rows = topic.has_config() ? rows_of(*arguments) : std::vector<SweepRow>();
  if (arguments->has("json")) {
    print_json(topic.figures(*arguments, rows));
  } else {
    topic.print(*arguments, rows);
  }
  return 0;
}

Json figures_of(const InspectTopic& topic, std::vector<std::string> words,
                const std::vector<SweepRow>& rows) {
  CommandLine line = topic.line;
  if (topic.has_config()) line.fewest = line.most = 0;  // `rows` stand for it
  words.insert(words.begin(), line.name);
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  const auto arguments = parse_topic(topic, line, static_cast<int>(argv.size()), argv.data());
  if (!arguments) throw UserError(line.name + ": expected figures to be asked for; got --help");
  return topic.figures(*arguments, rows);
}

}  // namespace transformer
