#include "transformer/train/trainer.h"

#include <torch/torch.h>

#include <cmath>

#include "transformer/analysis/flops.h"
#include "transformer/clock.h"
#include "transformer/data/batches.h"
#include "transformer/error.h"
#include "transformer/nn/init.h"
#include "transformer/train/adam.h"
#include "transformer/train/batch_tensors.h"
#include "transformer/train/perplexity.h"
#include "transformer/train/same_training.h"
#include "transformer/train/schedule.h"
#include "transformer/train/step.h"

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

[[noreturn]] void refuse_step(int64_t step, const std::string& what,
                              const std::vector<Batch>& batches) {
  throw Diverged(step,
                 "step " + std::to_string(step) + ": " + what +
                     " is not finite; nothing of this step was applied. Training pairs in the " +
                     "batch: " + rows_of(batches) +
                     ". A lower training.factor or learning_rate, more warmup_steps or " +
                     "training.clip_norm may help");
}

void scale_down(const Adam::Parameters& parameters, double norm, double most) {
  torch::NoGradGuard no_gradient;
  if (most <= 0 || norm <= most) return;
  for (const auto& [name, parameter] : parameters) parameter.grad().mul_(most / norm);
}

Adam::Parameters parameters_of(const Transformer& model) {
  Adam::Parameters parameters;
  for (const auto& parameter : model->named_parameters()) {
    parameters.emplace_back(parameter.key(), parameter.value());
  }
  return parameters;
}

Progress resume(Transformer& model, Adam& optimizer, const TrainingTask& task,
                const std::function<void(const TrainingEvent&)>& on_event) {
  const auto found = newest_checkpoint(
      task.checkpoints, [&](const std::string& reason) { on_event(CheckpointPassedOver{reason}); });
  if (!found) {
    Progress progress;
    progress.data_fingerprint = task.train.fingerprint();
    return progress;
  }
  const std::string where = task.checkpoints.string();
  if (const auto why = why_not_go_on(found->config, task.config)) {
    throw UserError(where + ": holds another run: " + *why + "; use another --out folder");
  }
  if (found->progress.data_fingerprint != task.train.fingerprint()) {
    throw UserError(where +
                    ": the training data is not what the run began with; use another --out folder");
  }
  State weights = state_of(*model);
  assign(found->model, weights, where);
  optimizer.load(found->optimizer, where);
  on_event(Resumed{found->progress.step});
  return found->progress;
}

}  // namespace

TrainingOutcome train(Transformer& model, const TrainingTask& task,
                      const std::function<void(const TrainingEvent&)>& on_event) {
  const auto& training = task.config.training;
  initialise(*model, training.seed);
  model->to(task.device);
  model->train();
  const auto parameters = parameters_of(model);
  Adam optimizer(parameters, training);
  Progress progress = resume(model, optimizer, task, on_event);
  BatchStream batches(task.train, task.config.data.tokens_per_batch, training.seed,
                      {progress.epoch, progress.batch},
                      // How many target tokens a step has is known before its first batch is made.
                      training.accumulate > 1 ? Contents::outline : Contents::whole);

  const int64_t first_step = progress.step;
  const double first_seconds = progress.seconds;
  double interval_seconds = 0;
  int64_t interval_tokens = 0;
  const auto save = [&] {
    write_checkpoint(task.checkpoints,
                     {task.config, task.vocabulary, progress, state_of(*model), optimizer.state()});
    remove_old_checkpoints(task.checkpoints, std::max<int64_t>(training.average_last, 2),
                           training.checkpoint_every);  // two: one to fall back on
    on_event(CheckpointWritten{progress.step});
  };

  while (progress.step < training.train_steps) {
    const auto start = Clock::now();
    const int64_t step = progress.step + 1;
    std::vector<Batch> step_batches;
    for (int64_t i = 0; i < training.accumulate; ++i) step_batches.push_back(batches.next());

    const StepSums sums =
        gradients_of(model, step_batches, &task.train, training, step, task.device);
    if (!std::isfinite(sums.smoothed)) refuse_step(step, "the loss", step_batches);
    const double norm = gradient_norm(parameters);
    if (!std::isfinite(norm)) {
      for (const auto& [name, parameter] : parameters) {
        if (!torch::isfinite(parameter.grad()).all().item<bool>()) {
          refuse_step(step, "the gradient of " + name, step_batches);
        }
      }
      refuse_step(step, "the gradients' norm", step_batches);
    }
    std::optional<StepDiagnosis> diagnosis;
    if (training.diagnostics_every > 0 && step % training.diagnostics_every == 0) {
      const auto& rows = step_batches.front().rows;
      const auto batch = to_device(make_batch(task.train, rows), task.device);
      diagnosis.emplace(model, batch.source, batch.target_input);
    }
    scale_down(parameters, norm, training.clip_norm);
    const double rate = learning_rate(training, task.config.model.d_model, step);
    optimizer.step(rate);
    if (diagnosis) on_event(Diagnosed{step, diagnosis->after_update()});

    const Position position = batches.position();
    const double elapsed = seconds_since(start);
    progress.step = step;
    progress.epoch = position.epoch;
    progress.batch = position.batch;
    progress.source_tokens += sums.source_tokens;
    progress.target_tokens += sums.target_tokens;
    for (const auto& batch : step_batches) {
      progress.flops += training_flops(task.config.model,
                                       {batch.sentences, batch.source_length, batch.target_length});
    }
    progress.seconds += elapsed;
    progress.interval_smoothed += sums.smoothed;
    progress.interval_nll += sums.nll;
    progress.interval_tokens += sums.target_tokens;
    interval_seconds += elapsed;
    interval_tokens += sums.target_tokens;

    const bool is_last = step == training.train_steps;
    if (step % training.log_every == 0 || is_last) {
      const auto tokens = static_cast<double>(progress.interval_tokens);
      const double a_step =
          (progress.seconds - first_seconds) / static_cast<double>(step - first_step);
      on_event(
          StepLogged{.step = step,
                     .loss = progress.interval_smoothed / tokens,
                     .nll = progress.interval_nll / tokens,
                     .learning_rate = rate,
                     .gradient_norm = norm,
                     .source_tokens = progress.source_tokens,
                     .target_tokens = progress.target_tokens,
                     .tokens_per_second = static_cast<double>(interval_tokens) / interval_seconds,
                     .seconds_left = a_step * static_cast<double>(training.train_steps - step)});
      progress.interval_smoothed = progress.interval_nll = 0;
      progress.interval_tokens = interval_tokens = 0;
      interval_seconds = 0;
    }
    if (task.valid != nullptr && training.validate_every > 0 &&
        step % training.validate_every == 0) {
      const auto result =
          perplexity(model, *task.valid, task.config.data.tokens_per_batch, task.device);
      on_event(Validated{step, result.value()});
    }
    const bool stop = task.stop != nullptr && task.stop->load();
    if (step % training.checkpoint_every == 0 || is_last || stop) save();
    if (stop && !is_last) return {progress, true};
  }
  return {progress, false};
}

}  // namespace transformer
