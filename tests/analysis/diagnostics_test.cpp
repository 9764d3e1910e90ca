#include "transformer/analysis/diagnostics.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "transformer/analysis/attention_entropy.h"
#include "transformer/nn/init.h"
#include "transformer/nn/masks.h"

using namespace transformer;

namespace {

const SublayerDiagnostics& diagnostics_of(const std::vector<SublayerDiagnostics>& all,
                                          const std::string& sublayer) {
  for (const auto& each : all) {
    if (each.signal.sublayer == sublayer) return each;
  }
  throw std::logic_error(sublayer);
}

double norm_of(const torch::Tensor& rows) {
  return rows.square().sum(-1).mean().sqrt().item<double>();
}

}  // namespace

TEST_CASE("attention entropy: 0 for one position, ln n for n alike, padding not counted",
          "[numeric]") {
  // [1, 2 heads, 3 queries, 4 keys]; the third query is padding.
  const auto weights =
      torch::tensor({{{1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.5, 0.5, 0.0, 0.0}},
                     {{0.25, 0.25, 0.25, 0.25}, {0.5, 0.5, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}}})
          .unsqueeze(0);
  const auto entropy = attention_entropy(weights, torch::tensor({{true, true, false}}));
  REQUIRE(entropy.size() == 2);
  REQUIRE(entropy[0] == 0);
  REQUIRE(entropy[1] == Approx((std::log(4.0) + std::log(2.0)) / 2));
}

TEST_CASE("diagnostics: a step's figures are those of the formulas, padding left out",
          "[numeric]") {
  for (const auto placement : {NormPlacement::post, NormPlacement::pre}) {
    auto config = small_model();
    config.norm_placement = placement;
    config.P_drop = 0.3;  // the step has it; what is looked at has not
    Transformer model(config);
    initialise(*model, 5);
    model->train();
    const auto source = torch::tensor({{5, 9, 4, 7}, {6, 8, 0, 0}});
    const auto target = torch::tensor({{3, 9, 5}, {3, 4, 0}});
    torch::manual_seed(1);
    model(source, target).square().mean().backward();
    std::map<std::string, torch::Tensor> before, gradients;
    for (const auto& item : model->named_parameters()) {
      before[item.key()] = item.value().detach().clone();
      gradients[item.key()] = item.value().grad().clone();
    }
    const StepDiagnosis diagnosis(model, source, target);
    REQUIRE(model->is_training());
    const torch::NoGradGuard no_gradient;
    for (const auto& item : model->named_parameters()) {
      REQUIRE(torch::equal(item.value().grad(), gradients[item.key()]));
      REQUIRE(torch::equal(item.value(), before[item.key()]));
      item.value().add_(item.value().grad(), -0.1);  // a step of plain gradient descent
    }
    const auto all = diagnosis.after_update();
    REQUIRE(std::ssize(all) == 5 * config.N);

    for (const auto& [sublayer, weight] : {std::pair{"encoder.layers.0.feed_forward", "in.weight"},
                                           {"decoder.layers.0.cross_attention", "k.weight"}}) {
      const std::string name = std::string(sublayer) + "." + weight;
      const auto& weights = diagnostics_of(all, sublayer).weights;
      const auto found = std::find_if(weights.begin(), weights.end(),
                                      [&](const auto& each) { return each.name == weight; });
      REQUIRE(found != weights.end());
      const double gradient = gradients[name].norm().item<double>();
      REQUIRE(found->gradient == Approx(gradient));
      REQUIRE(found->update_weight ==
              Approx(0.1 * gradient / before[name].norm().item<double>()).epsilon(1e-4));
    }

    // The first connection by hand, sentence by sentence, so that nothing is padded.
    for (auto& item : model->named_parameters()) item.value().copy_(before[item.key()]);
    model->eval();
    const auto modules = model->named_modules();
    auto* attention = modules["encoder.layers.0.self_attention"]->as<MultiHeadAttentionImpl>();
    const auto norm = [&](const torch::Tensor& x) {
      return torch::layer_norm(x, {config.d_model},
                               before["encoder.layers.0.self_attention_residual.norm.weight"],
                               before["encoder.layers.0.self_attention_residual.norm.bias"], 1e-6);
    };
    std::vector<torch::Tensor> trunks, branches, outputs, entropies;
    for (const auto& ids : {torch::tensor({5, 9, 4, 7}), torch::tensor({6, 8})}) {
      const auto x =
          before["embedding.weight"].index_select(0, ids) *
              std::sqrt(static_cast<double>(config.d_model)) +
          sinusoid_table(PositionKind::sinusoidal, ids.size(0), config.d_model).to(torch::kFloat);
      const bool pre = placement == NormPlacement::pre;
      const auto input = (pre ? norm(x) : x).unsqueeze(0);
      const auto [branch, weights] = attention->forward_with_weights(input, input);
      trunks.push_back(x);
      branches.push_back(branch[0]);
      outputs.push_back(pre ? x + branch[0] : norm(x + branch[0]));
      entropies.push_back(-(weights * weights.log()).sum(-1)[0].t());  // [time, h]
    }
    const auto trunk = torch::cat(trunks), branch = torch::cat(branches);
    const auto& first = all.front();
    REQUIRE(first.signal.sublayer == "encoder.layers.0.self_attention");
    REQUIRE(first.signal.trunk == Approx(norm_of(trunk)).epsilon(1e-4));
    REQUIRE(first.signal.branch == Approx(norm_of(branch)).epsilon(1e-4));
    REQUIRE(first.signal.output == Approx(norm_of(torch::cat(outputs))).epsilon(1e-4));
    REQUIRE(first.signal.branch_trunk == Approx(norm_of(branch) / norm_of(trunk)).epsilon(1e-4));
    REQUIRE(first.signal.dependency ==
            Approx((branch.var(false) / (trunk + branch).var(false)).item<double>()).epsilon(1e-4));
    const auto entropy = torch::cat(entropies).mean(0);
    REQUIRE(std::ssize(first.attention_entropy) == config.h);
    for (int64_t head = 0; head < config.h; ++head) {
      REQUIRE(first.attention_entropy[static_cast<size_t>(head)] ==
              Approx(entropy[head].item<double>()).epsilon(1e-4));
    }
    REQUIRE(diagnostics_of(all, "decoder.layers.0.feed_forward").attention_entropy.empty());
  }
}

TEST_CASE("diagnostics: of a large batch the first sentences are looked at", "[numeric]") {
  Transformer model(small_model());
  initialise(*model, 5);
  model->train();
  const int64_t length = StepDiagnosis::kMostTokens / 2;
  const auto some = torch::randint(4, small_model().V, {3, length}, torch::kLong);
  const auto short_target = some.narrow(1, 0, 2);
  model(some.narrow(1, 0, 4), short_target).sum().backward();
  auto other = some.clone();
  other[2].fill_(4);  // the third is not among them
  const auto a = StepDiagnosis(model, some, short_target).after_update();
  const auto b = StepDiagnosis(model, other, short_target).after_update();
  other[1].fill_(4);
  const auto c = StepDiagnosis(model, other, short_target).after_update();
  REQUIRE(a[0].signal.trunk == b[0].signal.trunk);
  REQUIRE(a[0].signal.trunk != c[0].signal.trunk);
}
