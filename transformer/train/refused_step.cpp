#include "transformer/train/refused_step.h"

#include <torch/torch.h>

#include "transformer/data/share.h"
#include "transformer/diverged.h"
#include "transformer/train/data_parallel.h"
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

namespace {

// What one rank did of the step, with its word-pieces.
std::vector<Batch> whole_share(const Corpus& corpus, const std::vector<Batch>& batches,
                               int64_t rank, int64_t ranks) {
  auto share = share_of(corpus, batches, rank, ranks);
  std::erase_if(share, [](const Batch& batch) { return batch.sentences == 0; });
  for (auto& batch : share) {
    if (batch.source.empty()) batch = make_batch(corpus, batch.rows);
  }
  return share;
}

// The share of the first rank that has a tensor which is not finite; rank 0's where none has.
StepDump dump_of(Transformer& model, const TrainingTask& task, const std::vector<Batch>& batches,
                 int64_t step, int64_t ranks) {
  StepDump dump{.config = task.config,
                .vocabulary = task.vocabulary,
                .step = step,
                .threads = torch::get_num_threads(),
                .finding = "none; run again all were finite",
                .model = state_of(*model),
                .batches = whole_share(task.train, batches, 0, ranks),
                .share = step_share(task.config.model.family, batches, 0, ranks)};
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const auto part = whole_share(task.train, batches, rank, ranks);
    const StepShare share = step_share(task.config.model.family, batches, rank, ranks);
    if (part.empty()) continue;
    const auto found =
        first_non_finite(model, part, nullptr, task.config.training, step, task.device, share);
    if (!found) continue;
    dump.finding = found->text();
    dump.batches = part;
    dump.share = share;
    break;
  }
  return dump;
}

}  // namespace

void refuse_step(Transformer& model, const TrainingTask& task, const std::vector<Batch>& batches,
                 int64_t step, const std::string& what, Ranks& ranks) {
  const std::string where = "step " + std::to_string(step) + ": ";
  if (!ranks.is_first()) {
    ranks.leave();
    throw Diverged(step, where + what + " is not finite; rank 0 says more");
  }
  const StepDump dump = dump_of(model, task, batches, step, ranks.size());
  const std::string message =
      where + what +
      " is not finite; nothing of this step was kept. First tensor: " + dump.finding +
      ". Training pairs in the batch: " + rows_of(dump.batches) + dumped(task, dump) +
      ". A lower training.factor or learning_rate, more warmup_steps or training.clip_norm may "
      "help";
  ranks.leave();
  throw Diverged(step, message);
}

}  // namespace transformer
