#include "transformer/analysis/tensor_shapes.h"

#include <torch/torch.h>

#include "transformer/analysis/residual_observation.h"

namespace transformer {

namespace {

// Walks through what was observed and notes shapes; keeps account of which parameters are noted.
class Walk {
 public:
  explicit Walk(Transformer& model) : model_(model), modules_(model->named_modules()) {}

  void note(const std::string& place, const std::string& tensor, const torch::Tensor& value,
            int64_t parameters = 0) {
    shapes_.push_back({place, tensor, value.sizes().vec(), parameters});
  }

  int64_t parameters_of(const std::string& module) const {
    int64_t count = 0;
    if (const auto* found = modules_.find(module)) {
      for (const auto& parameter : (*found)->parameters()) count += parameter.numel();
    }
    return count;
  }

  // What enters the first layer: embedding · sqrt(d_model) + position.
  void embedding(const std::string& side, const torch::Tensor& ids, const torch::Tensor& embedded,
                 const std::string& table) {
    note(side, "ids", ids);
    note(table, "weight", weight(table), parameters_of(table));
    const std::string positions = side + "_positions";
    note(side, "embedding · √d_model + position", embedded, parameters_of(positions));
  }

  void attention(const ResidualObservation::Seen& seen, const AttentionSubject& subject) {
    const auto& name = seen.sublayer;
    auto* module = modules_[name]->as<MultiHeadAttentionImpl>();
    const auto [keys, values] = module->keys_values(subject.memory);
    const auto heads = module->forward_with_weights(seen.pass.input, subject.memory, subject.mask);
    note(name, "q", at::linear(seen.pass.input, weight(name + ".q")), parameters_of(name + ".q"));
    note(name, "k", keys, parameters_of(name + ".k"));
    note(name, "v", values, parameters_of(name + ".v"));
    note(name, "weights", heads.weights);
    note(name, "output", seen.pass.branch, parameters_of(name + ".o"));
    residual(seen);
  }

  void feed_forward(const ResidualObservation::Seen& seen) {
    const auto& name = seen.sublayer;
    note(name, "inner", at::linear(seen.pass.input, weight(name + ".in")),
         parameters_of(name + ".in"));
    if (modules_.contains(name + ".gate")) {
      note(name, "gate", at::linear(seen.pass.input, weight(name + ".gate")),
           parameters_of(name + ".gate"));
    }
    note(name, "output", seen.pass.branch, parameters_of(name + ".out"));
    residual(seen);
  }

  std::vector<ShapedTensor> shapes() { return std::move(shapes_); }

 private:
  torch::Tensor weight(const std::string& module) const {
    return model_->named_parameters()[module + ".weight"];
  }
  void residual(const ResidualObservation::Seen& seen) {
    const std::string name = seen.sublayer + "_residual";
    note(name, "output", seen.pass.output, parameters_of(name));
  }

  Transformer model_;
  torch::OrderedDict<std::string, std::shared_ptr<torch::nn::Module>> modules_;
  std::vector<ShapedTensor> shapes_;
};

}  // namespace

std::vector<ShapedTensor> tensor_shapes(Transformer& model, const torch::Tensor& source,
                                        const torch::Tensor& target) {
  const torch::NoGradGuard no_gradient;
  model->eval();
  const ResidualObservation observation(model);
  const auto pass = model->pass(source, target);
  const auto logits = pass.hidden.matmul(model->output_weight().t());

  const bool is_tied = model->config().tie_embeddings;
  Walk walk(model);
  std::string stack;
  const auto enter = [&](const std::string& next, const torch::Tensor& x) {
    if (next == stack) return;
    if (pass.memory && stack == "encoder") {
      walk.note("encoder", "memory", *pass.memory, walk.parameters_of("encoder.norm"));
    }
    stack = next;
    const bool is_source = pass.memory && stack == "encoder";
    const std::string side = is_source ? "source" : "target";
    walk.embedding(side, is_source ? source : target, x,
                   is_tied ? "embedding" : side + "_embedding");
    if (stack == "encoder") walk.note(side, "mask", *pass.encoder_mask);
  };
  for (const auto& seen : observation.passes()) {
    const SublayerName place(seen.sublayer);
    enter(place.stack, seen.pass.trunk);
    if (place.sublayer == "feed_forward") {
      walk.feed_forward(seen);
    } else {
      walk.attention(seen, subject_of(seen, pass));
    }
  }
  walk.note(stack, "output", pass.hidden, walk.parameters_of(stack + ".norm"));
  walk.note(is_tied ? "embedding" : "output", "weight", model->output_weight(),
            walk.parameters_of("output"));
  walk.note("logits", "output · weightᵀ", logits);
  auto shapes = walk.shapes();
  // A matrix that is met again (tied) is counted where it is met first.
  bool is_counted = false;
  for (auto& each : shapes) {
    if (each.place != "embedding") continue;
    if (is_counted) each.parameters = 0;
    is_counted = true;
  }
  return shapes;
}

}  // namespace transformer
