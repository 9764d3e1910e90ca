#include "tools/commands/runner_options.h"

#include "transformer/error.h"
#include "transformer/train/state.h"

namespace transformer {

void add_run_limits(cxxopts::Options& options) {
  options.add_options()(
      "retries",
      "how often a run that failed is tried again, unless its config is at fault or it diverged "
      "(1)",
      cxxopts::value<std::string>(), "N")(
      "stuck-after", "end a run that gives no sign of life for so long: no step, no translation",
      cxxopts::value<std::string>(), "T");
}

void read_run_limits(const Arguments& arguments, RunnerOptions& options) {
  constexpr int64_t kMostRetries = 1000;
  options.retries = arguments.has("retries") ? arguments.integer("retries", 0, kMostRetries) : 1;
  if (arguments.has("stuck-after")) {
    options.limits.silence =
        read_duration(arguments.get<std::string>("stuck-after"), "--stuck-after");
  }
}

std::string damage_of_model(const std::filesystem::path& model) {
  try {
    read_state(model, ChecksumRule::required);
    return "";
  } catch (const UserError& damage) {
    return damage.what();
  }
}

}  // namespace transformer
