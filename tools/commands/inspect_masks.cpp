#include <torch/torch.h>

#include <algorithm>
#include <iostream>

#include "tools/commands/inspect_arguments.h"
#include "tools/commands/inspect_topics.h"
#include "tools/text_table.h"
#include "transformer/analysis/mask_weights.h"
#include "transformer/data/tokenizer.h"
#include "transformer/error.h"

namespace transformer {

namespace {

// A mask as the model applies it, with what it leaves of the softmax.
struct Shown {
  std::string name;
  torch::Tensor allowed;  // [batch, queries, keys] bool
  torch::Tensor weights;  // the same shape
};

// Word-pieces where sentences of these lengths have some, padding elsewhere.
torch::Tensor ids_of(const std::vector<int64_t>& lengths) {
  const int64_t longest = *std::ranges::max_element(lengths);
  auto ids = torch::full({std::ssize(lengths), longest}, int64_t{kPad}, torch::kLong);
  for (int64_t i = 0; i < std::ssize(lengths); ++i) {
    ids[i].narrow(0, 0, lengths[static_cast<size_t>(i)]).fill_(kEos + 1);
  }
  return ids;
}

Shown shown(const std::string& name, const Mask& mask, int64_t batch, int64_t queries,
            int64_t keys) {
  const auto everything = torch::ones({1, 1, 1, 1}, torch::kBool);
  const auto allowed = mask.combined(queries, torch::kCPU).value_or(everything);
  const auto shape = std::vector<int64_t>{batch, 1, queries, keys};
  return {name, allowed.expand(shape).squeeze(1).contiguous(),
          mask_weights(mask, batch, queries, keys)};
}

std::vector<Shown> masks_of(const std::vector<int64_t>& source,
                            const std::vector<int64_t>& target) {
  const auto source_ids = ids_of(source);
  const auto target_ids = ids_of(target);
  const int64_t batch = std::ssize(source);
  const int64_t s = source_ids.size(1), t = target_ids.size(1);
  const Mask padding{padding_mask(source_ids)};
  return {shown("encoder self-attention: padding", padding, batch, s, s),
          shown("decoder self-attention: causal", padding.causal_of_queries(), batch, t, t),
          shown("decoder self-attention: causal and padding together",
                {.allowed = padding_mask(target_ids), .causal = true}, batch, t, t),
          shown("decoder cross-attention: the source's padding", padding, batch, t, s)};
}

void print_mask(const Shown& mask) {
  std::cout << mask.name << "\n";
  for (int64_t sentence = 0; sentence < mask.allowed.size(0); ++sentence) {
    std::cout << "  sentence " << sentence + 1 << "\n";
    for (int64_t query = 0; query < mask.allowed.size(1); ++query) {
      std::string line;
      for (int64_t key = 0; key < mask.allowed.size(2); ++key) {
        line += mask.allowed[sentence][query][key].item<bool>() ? " #" : " .";
      }
      const auto weights = mask.weights[sentence][query];
      std::cout << "   " << line << "   " << formatted("%.0f", weights.gt(0).sum().item<double>())
                << " × " << formatted("%.3f", weights.max().item<double>()) << " = "
                << formatted("%.3f", weights.sum().item<double>()) << "\n";
    }
  }
  std::cout << "\n";
}

Json matrices(const torch::Tensor& values) {
  Json all = Json::array();
  for (int64_t i = 0; i < values.size(0); ++i) {
    if (values.dim() > 1) {
      all.push_back(matrices(values[i]));
    } else if (values.scalar_type() == torch::kBool) {
      all.push_back(values[i].item<bool>());
    } else {
      all.push_back(values[i].item<double>());
    }
  }
  return all;
}

void add_masks_options(cxxopts::Options& options) {
  options.add_options()("source", "lengths of the source sentences",
                        cxxopts::value<std::string>()->default_value("5,3"))(
      "target", "lengths of the target sentences",
      cxxopts::value<std::string>()->default_value("4,3"));
}

std::vector<Shown> masks_of(const Arguments& arguments) {
  constexpr int64_t kLongest = 100;
  const auto source = integers_of(arguments, "source", 0, kLongest);
  const auto target = integers_of(arguments, "target", 0, kLongest);
  if (source.size() != target.size()) {
    throw UserError("--target: expected as many lengths as --source has, " +
                    std::to_string(source.size()) + "; got " + std::to_string(target.size()));
  }
  if (*std::ranges::max_element(source) == 0 || *std::ranges::max_element(target) == 0) {
    throw UserError("--source, --target: expected a length above 0 in each");
  }
  return masks_of(source, target);
}

Json masks_figures(const Arguments& arguments, const std::vector<SweepRow>&) {
  Json list = Json::array();
  for (const auto& mask : masks_of(arguments)) {
    list.push_back({{"mask", mask.name},
                    {"allowed", matrices(mask.allowed)},
                    {"weights", matrices(mask.weights)}});
  }
  return {{"masks", list}};
}

void print_masks(const Arguments& arguments, const std::vector<SweepRow>&) {
  for (const auto& mask : masks_of(arguments)) print_mask(mask);
  std::cout
      << "The decoder needs no mask for its own padding: it stands at the right, and causality "
         "hides it.\n";
}

}  // namespace

const InspectTopic& masks_topic() {
  static const InspectTopic topic = {
      .line = {.name = "inspect masks",
               .summary = "What each position may look at (#) and what it may not (.), a line a "
                          "query (section 3.2.3), and what\nis left of its softmax where all "
                          "scores are alike: keys × weight = sum.",
               .usage = "",
               .example = "transformer inspect masks --source 5,3 --target 4,3",
               .most = 0},
      .add_options = add_masks_options,
      .figures = masks_figures,
      .print = print_masks};
  return topic;
}

}  // namespace transformer
