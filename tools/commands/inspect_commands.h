#pragma once

namespace transformer {

// The topic of `transformer inspect` that needs a trained model; the others are in
// inspect_topics.h. argv[0] is the topic's name.
int inspect_attention_command(int argc, char** argv);

}  // namespace transformer
