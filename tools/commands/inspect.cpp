#include "tools/commands/commands.h"
#include "tools/commands/inspect_commands.h"
#include "tools/commands/inspect_topics.h"
#include "tools/commands/subcommands.h"

namespace transformer {

int inspect_command(int argc, char** argv) {
  static const Subcommands topics = {
      .command = "transformer inspect",
      .purpose = "Shows the paper's quantities from the real code.",
      .kind = "topic",
      .usage = "[options] [key=value...]",
      .all = {{"parameters",
               "trained scalars by block, and the vocabularies that print the paper's figures",
               inspect_topic_command<parameters_topic>, "configs/table3.json"},
              {"schedule", "the learning rate, schedules side by side",
               inspect_topic_command<schedule_topic>,
               "configs/base.json training.warmup_steps=4000,8000"},
              {"label-smoothing", "the least the smoothed loss can be",
               inspect_topic_command<label_smoothing_topic>,
               "configs/base.json training.eps_ls=0.1,0.2"},
              {"kv-cache", "bytes that decoding keeps, and projections it saves",
               inspect_topic_command<kv_cache_topic>, "configs/base.json model.kv_heads=8,1"},
              {"complexity", "Table 1: operations, sequential steps and path length of layer types",
               inspect_topic_command<complexity_topic>, "n=70 d=512"},
              {"flops", "what training costs, counted and by the paper's method (Table 2)",
               inspect_topic_command<flops_topic>, "configs/base.json --utilisation 0.5"},
              {"scaling", "a step on many devices, computed and summed over the network",
               inspect_topic_command<scaling_topic>,
               "configs/base.json model.V=37000 --devices 8,64,512 --tflops 50 --gigabytes 25"},
              {"positions", "the matrix of positions, its norm, and dot products by distance",
               inspect_topic_command<positions_topic>, "configs/base.json"},
              {"embedding-scale", "norms of embeddings before and after times sqrt(d_model)",
               inspect_topic_command<embedding_scale_topic>, "configs/base.json"},
              {"masks", "padding and causal masks, drawn, and what they leave of the softmax",
               inspect_topic_command<masks_topic>, "--source 5,3 --target 4,3"},
              {"shapes", "every tensor of a batch on its way through the model",
               inspect_topic_command<shapes_topic>, "configs/base.json"},
              {"signal", "norms, gradients and dependencies by depth, at initialisation",
               inspect_topic_command<signal_topic>,
               "configs/mini.json model.norm_placement=post,pre model.N=6,12,24"},
              {"attention", "weights of each layer and head for a sentence pair",
               inspect_attention_command,
               "--checkpoint runs/mini --source \"...\" --target \"...\""}},
      .hint =
          "A CONFIG is an experiment or a sweep; lists such as model.N=2,4 give a row each. All\n"
          "topics have --json; transformer inspect TOPIC --help says more.",
      .example = "transformer inspect parameters configs/table3.json"};
  return run_one(topics, argc, argv);
}

}  // namespace transformer
