#pragma once

// The topics of `transformer inspect` that need no trained model. What a topic finds it tells in
// two ways: as JSON, to programs and to the live page, and as text.

#include <string>
#include <vector>

#include "tools/commands/inspect_arguments.h"

namespace transformer {

struct InspectTopic {
  CommandLine line;                                  // with fewest = 1: it is about a CONFIG
  void (*add_options)(cxxopts::Options&) = nullptr;  // beside --json
  // `rows` are what CONFIG and the overrides name; none of a topic without CONFIG.
  Json (*figures)(const Arguments& arguments, const std::vector<SweepRow>& rows);
  void (*print)(const Arguments& arguments, const std::vector<SweepRow>& rows);  // to stdout

  bool has_config() const { return line.fewest > 0; }
};

const InspectTopic& complexity_topic();
const InspectTopic& embedding_scale_topic();
const InspectTopic& flops_topic();
const InspectTopic& kv_cache_topic();
const InspectTopic& label_smoothing_topic();
const InspectTopic& masks_topic();
const InspectTopic& parameters_topic();
const InspectTopic& positions_topic();
const InspectTopic& scaling_topic();
const InspectTopic& schedule_topic();
const InspectTopic& shapes_topic();
const InspectTopic& signal_topic();

// The subcommand: the figures with --json, else the text. argv[0] is the topic's name.
int run_topic(const InspectTopic& topic, int argc, char** argv);
template <const InspectTopic& (*topic)()>
int inspect_topic_command(int argc, char** argv) {
  return run_topic(topic(), argc, argv);
}

// What the subcommand would print with --json for these words, `rows` being what its CONFIG and
// overrides name. Throws UserError as the subcommand does.
Json figures_of(const InspectTopic& topic, std::vector<std::string> words,
                const std::vector<SweepRow>& rows);

}  // namespace transformer
