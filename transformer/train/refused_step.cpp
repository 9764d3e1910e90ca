#include "transformer/train/refused_step.h"

#include <torch/torch.h>

#include "transformer/diverged.h"
#include "transformer/train/non_finite.h"
#include "transformer/train/step_dump.h"

namespace transformer {

namespace {

std::string rows_of(const std::vector<Batch>& batches) {
  constexpr size_t kShown = 10;
  std::string text;
  size_t count = 0;
  for (const auto& batch : batches) {
    for (const int64_t row : batch.rows) {
      if (count++ < kShown) text += (text.empty() ? "" : ", ") + std::to_string(row);
    }
  }
  return text + (count > kShown ? ", ... (" + std::to_string(count) + " in all)" : "");
}

// Where the dump lies, in words; or why there is none, for that must not hide what happened.
std::string dumped(const TrainingTask& task, const StepDump& dump) {
  if (task.dump.empty()) return "";
  try {
    write_dump(task.dump, dump);
    return ". Run it again with: transformer train --replay " + task.dump.string();
  } catch (const Failure& failure) {
    return ". Without a dump: " + std::string(failure.what());
  }
}

}  // namespace

void refuse_step(Transformer& model, const TrainingTask& task, std::vector<Batch> batches,
                 int64_t step, const std::string& what) {
  for (auto& batch : batches) {
    if (batch.source.empty()) batch = make_batch(task.train, batch.rows);
  }
  const auto found =
      first_non_finite(model, batches, nullptr, task.config.training, step, task.device);
  const std::string finding = found ? found->text() : "none; run again all were finite";
  const StepDump dump{.config = task.config,
                      .vocabulary = task.vocabulary,
                      .step = step,
                      .threads = torch::get_num_threads(),
                      .finding = finding,
                      .model = state_of(*model),
                      .batches = batches};
  throw Diverged(step,
                 "step " + std::to_string(step) + ": " + what +
                     " is not finite; nothing of this step was kept. First tensor: " + finding +
                     ". Training pairs in the batch: " + rows_of(batches) + dumped(task, dump) +
                     ". A lower training.factor or learning_rate, more warmup_steps or "
                     "training.clip_norm may help");
}

}  // namespace transformer
