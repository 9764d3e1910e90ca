#include <set>
#include <string>

#include "experiments/sweep.h"
#include "tests/catch.h"
#include "transformer/analysis/parameters.h"

using namespace transformer;

namespace {

Sweep modern(const std::string& name) {
  return load_sweep(std::string(TRANSFORMER_SOURCE) + "/configs/" + name);
}

template <NamedEnum E>
std::set<std::string> values_of(const Sweep& sweep, E ModelConfig::*key) {
  std::set<std::string> values;
  for (const auto& row : sweep.rows) values.insert(name_of(row.config.model.*key));
  return values;
}

}  // namespace

TEST_CASE("sweep: modern.json has every choice, and its steps end in today's model") {
  for (const char* name : {"modern.json", "modern-mini.json"}) {
    INFO(name);
    const auto sweep = modern(name);
    using Names = std::set<std::string>;
    REQUIRE(values_of(sweep, &ModelConfig::norm_placement) ==
            Names{"post", "pre", "deepnorm", "b2t"});
    REQUIRE(values_of(sweep, &ModelConfig::norm) == Names{"layer", "rms"});
    REQUIRE(values_of(sweep, &ModelConfig::positions) ==
            Names{"sinusoidal", "sinusoidal_concatenated", "learned", "rope", "alibi", "none"});
    REQUIRE(values_of(sweep, &ModelConfig::feed_forward) ==
            Names{"relu", "gelu", "swiglu", "geglu"});
    const auto& base = sweep.rows.front().config;
    const double parameters = static_cast<double>(count_parameters(base.model).total());
    size_t changes = 0;
    for (const auto& row : sweep.rows) {
      INFO(row.id);
      REQUIRE(row.config.data == base.data);
      REQUIRE(row.config.training == base.training);
      const auto changed = differences(base, row.config).size();
      if (row.group == "steps") {
        // One more than the step before; a gated layer's width goes with it.
        const bool gated = row.config.model.feed_forward_width == FeedForwardWidth::matched;
        REQUIRE(changed - (gated ? 1 : 0) == ++changes);
      }
      if (row.id.find("kv") == std::string::npos && row.config.model.kv_heads == base.model.h &&
          row.config.model.positions != PositionKind::learned) {
        REQUIRE(static_cast<double>(count_parameters(row.config.model).total()) ==
                Approx(parameters).epsilon(0.01));
      }
    }
    REQUIRE(changes == 5);
  }
}

TEST_CASE("sweep: modern-mini.json has the rows of modern.json") {
  const auto large = modern("modern.json");
  const auto small = modern("modern-mini.json");
  REQUIRE(small.rows.size() == large.rows.size());
  for (size_t i = 0; i < small.rows.size(); ++i) {
    REQUIRE(small.rows[i].id == large.rows[i].id);
    REQUIRE(small.rows[i].set == large.rows[i].set);
  }
}
