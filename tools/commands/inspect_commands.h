#pragma once

namespace transformer {

// Topics of `transformer inspect` of which the live page has no part; the others are in
// inspect_topics.h. argv[0] is the topic's name.
int inspect_attention_command(int argc, char** argv);
int inspect_scaling_command(int argc, char** argv);

}  // namespace transformer
