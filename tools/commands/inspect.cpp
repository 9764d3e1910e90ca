#include <iostream>
#include <string>
#include <vector>

#include "tools/commands/commands.h"
#include "tools/commands/inspect_commands.h"
#include "transformer/error.h"
#include "transformer/fields.h"

namespace transformer {

namespace {

struct Topic {
  const char* name;
  const char* summary;
  const char* example;
  int (*run)(int argc, char** argv);
};

const std::vector<Topic> kTopics = {
    {"parameters", "trained scalars by block, and the vocabularies that print the paper's figures",
     "configs/table3.json", inspect_parameters_command},
    {"schedule", "the learning rate, schedules side by side",
     "configs/base.json training.warmup_steps=4000,8000", inspect_schedule_command},
    {"label-smoothing", "the least the smoothed loss can be",
     "configs/base.json training.eps_ls=0.1,0.2", inspect_label_smoothing_command},
    {"kv-cache", "bytes that decoding keeps, and projections it saves",
     "configs/base.json model.kv_heads=8,1", inspect_kv_cache_command},
    {"complexity", "Table 1: operations, sequential steps and path length of layer types",
     "n=70 d=512", inspect_complexity_command},
    {"flops", "what training costs, counted and by the paper's method (Table 2)",
     "configs/base.json --utilisation 0.5", inspect_flops_command},
    {"positions", "the matrix of positions, its norm, and dot products by distance",
     "configs/base.json", inspect_positions_command},
    {"embedding-scale", "norms of embeddings before and after times sqrt(d_model)",
     "configs/base.json", inspect_embedding_scale_command},
    {"masks", "padding and causal masks, drawn, and what they leave of the softmax",
     "--source 5,3 --target 4,3", inspect_masks_command},
    {"shapes", "every tensor of a batch on its way through the model", "configs/base.json",
     inspect_shapes_command},
    {"signal", "norms, gradients and dependencies by depth, at initialisation",
     "configs/mini.json model.norm_placement=post,pre model.N=6,12,24", inspect_signal_command},
    {"attention", "weights of each layer and head for a sentence pair",
     "--checkpoint runs/mini --source \"...\" --target \"...\"", inspect_attention_command},
};

void print_help(std::ostream& out) {
  out << "Shows the paper's quantities from the real code.\n\nUsage:\n"
         "  transformer inspect TOPIC [options] [key=value...]\n\nTopics:\n";
  for (const auto& topic : kTopics) {
    out << "  " << topic.name << std::string(17 - std::string(topic.name).size(), ' ')
        << topic.summary << "\n"
        << std::string(19, ' ') << "inspect " << topic.name << " " << topic.example << "\n";
  }
  out << "\nA CONFIG is an experiment or a sweep; lists such as model.N=2,4 give a row each. All\n"
         "topics have --json; transformer inspect TOPIC --help says more.\n\nExample:\n"
         "  transformer inspect parameters configs/table3.json\n";
}

}  // namespace

int inspect_command(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name.empty() || name == "--help" || name == "-h") {
    print_help(name.empty() ? std::cerr : std::cout);
    return name.empty() ? 2 : 0;
  }
  std::vector<std::string> known;
  for (const auto& topic : kTopics) {
    if (name == topic.name) return topic.run(argc - 1, argv + 1);
    known.emplace_back(topic.name);
  }
  throw UserError("inspect " + fields::shown_name(name) + ": unknown topic" +
                  nearest_key(name, known));
}

}  // namespace transformer
