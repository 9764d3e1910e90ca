#include "transformer/train/trainer.h"

#include <torch/torch.h>

#include <cmath>

#include "transformer/analysis/flops.h"
#include "transformer/clock.h"
#include "transformer/data/batches.h"
#include "transformer/data/share.h"
#include "transformer/data/task.h"
#include "transformer/diverged.h"
#include "transformer/nn/init.h"
#include "transformer/train/adam.h"
#include "transformer/train/batch_tensors.h"
#include "transformer/train/data_parallel.h"
#include "transformer/train/largest_batch.h"
#include "transformer/train/perplexity.h"
#include "transformer/train/refused_step.h"
#include "transformer/train/same_training.h"
#include "transformer/train/schedule.h"
#include "transformer/train/step.h"

namespace transformer {

namespace {

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
  remove_leftovers_of_checkpoints(task.checkpoints);
  const auto found = newest_checkpoint(
      task.checkpoints, [&](const std::string& reason) { on_event(CheckpointPassedOver{reason}); });
  const auto folders = checkpoint_folders(task.checkpoints);
  const int64_t newest = folders.empty() ? 0 : checkpoint_step(folders.back());
  if (!found) {
    if (newest > 0) on_event(Resumed{.lost_steps = newest});
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
  const auto& progress = found->progress;
  on_event(Resumed{.step = progress.step,
                   .lost_steps = newest - progress.step,
                   .validation_due = progress.validation_due});
  return progress;
}

// Where training begins, with the weights and moments it begins with: rank 0 knows, and tells the
// others.
Progress starting_point(Transformer& model, Adam& optimizer, const TrainingTask& task, Ranks& ranks,
                        const std::function<void(const TrainingEvent&)>& on_event) {
  Progress progress;
  if (ranks.is_first()) progress = resume(model, optimizer, task, on_event);
  if (ranks.size() == 1) return progress;
  const std::string word = ranks.word_of_first(text_of(to_json(progress)));
  progress = from_json<Progress>(parse_json(word, "rank 0's progress"));
  if (progress.data_fingerprint != task.train.fingerprint()) {
    throw UserError("rank " + std::to_string(ranks.rank()) +
                    ": the training data is not that of rank 0");
  }
  ranks.meet();  // reading the text takes the others their time
  State moments = optimizer.state();
  std::vector<torch::Tensor> tensors;
  for (const auto& state : {state_of(*model), moments}) {
    for (const auto& [name, tensor] : state) tensors.push_back(tensor);
  }
  ranks.take_from_first(tensors);
  optimizer.load(moments, "rank 0");
  return progress;
}

StepSums sum_over(Ranks& ranks, const StepSums& share) {
  if (ranks.size() == 1) return share;
  const auto sums =
      ranks.sum({share.smoothed, share.nll, static_cast<double>(share.source_tokens),
                 static_cast<double>(share.target_tokens), static_cast<double>(share.predicted)});
  return {sums[0], sums[1], static_cast<int64_t>(sums[2]), static_cast<int64_t>(sums[3]),
          static_cast<int64_t>(sums[4])};
}

Perplexity validate_together(Transformer& model, const TrainingTask& task, Ranks& ranks) {
  const auto share = perplexity(model, *task.valid, task.config.data.tokens_per_batch, task.device,
                                task.stop, ranks.rank(), ranks.size());
  const auto sums = ranks.sum({share.nll, static_cast<double>(share.tokens)});
  return {.nll = sums[0], .tokens = static_cast<int64_t>(sums[1])};
}

// The first weight that is not finite; empty where all are.
std::string non_finite_weight(const Adam::Parameters& parameters) {
  torch::NoGradGuard no_gradient;
  for (const auto& [name, parameter] : parameters) {
    if (!torch::isfinite(parameter).all().item<bool>()) return name;
  }
  return "";
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
  Ranks alone;
  Ranks& ranks = task.ranks == nullptr ? alone : *task.ranks;
  Progress progress = starting_point(model, optimizer, task, ranks, on_event);
  ranks.share_gradients(model->parameters());
  BatchStream batches(task.train, task.config.data.tokens_per_batch, training.seed,
                      {progress.epoch, progress.batch},
                      // How many target tokens a step has is known before its first batch is made.
                      training.accumulate * ranks.size() > 1 ? Contents::outline : Contents::whole);

  const int64_t first_step = progress.step;
  const double first_seconds = progress.seconds;
  double interval_seconds = 0;
  int64_t interval_tokens = 0;
  const auto stopped = [&] { return task.stop != nullptr && task.stop->load(); };
  const auto save = [&] {
    if (!ranks.is_first()) return;
    write_checkpoint(task.checkpoints,
                     {task.config, task.vocabulary, progress, state_of(*model), optimizer.state()});
    remove_checkpoints_after(task.checkpoints, progress.step);
    remove_old_checkpoints(task.checkpoints, std::max<int64_t>(training.average_last, 2),
                           training.checkpoint_every);  // two: one to fall back on
    on_event(CheckpointWritten{progress.step});
  };
  // A signal ends it, however many sentences there are; the run validates when it goes on.
  const auto validate = [&] {
    const auto result = validate_together(model, task, ranks);
    if (ranks.any(stopped())) return;
    if (!std::isfinite(result.value())) {  // exp overflows long before the loss does
      ranks.leave();
      throw Diverged(progress.step, "step " + std::to_string(progress.step) +
                                        ": the perplexity on data.valid is not finite");
    }
    progress.validation_due = false;
    on_event(Validated{progress.step, result.value()});
  };
  if (progress.step < training.train_steps &&
      ranks.size() == 1) {  // others have a share of it each
    try_largest_batch(
        model, task.largest != nullptr ? *task.largest : largest_batch(task.train, task.config),
        task.train, task.config, task.device);
    if (task.on_step) task.on_step();
  }
  if (progress.validation_due && task.valid != nullptr) {
    validate();
    if (progress.validation_due) {
      ranks.leave();
      return {progress, true};
    }
  }

  while (progress.step < training.train_steps) {
    const auto start = Clock::now();
    const int64_t step = progress.step + 1;
    ranks.at_step(step);
    std::vector<Batch> step_batches;
    for (int64_t i = 0; i < training.accumulate; ++i) step_batches.push_back(batches.next());

    const auto refuse = [&](const std::string& what) {
      refuse_step(model, task, step_batches, step, what, ranks);
    };
    const StepSums sums = sum_over(
        ranks,
        gradients_of(model, share_of(task.train, step_batches, ranks.rank(), ranks.size()),
                     &task.train, training, step, task.device,
                     step_share(task.config.model.family, step_batches, ranks.rank(), ranks.size()),
                     &ranks));
    if (!std::isfinite(sums.smoothed)) refuse("the loss");
    const double norm = gradient_norm(parameters);
    if (!std::isfinite(norm)) refuse("the gradient");
    std::optional<StepDiagnosis> diagnosis;
    if (ranks.is_first() && training.diagnostics_every > 0 &&
        step % training.diagnostics_every == 0) {
      const auto batch =
          to_device(for_task(task.config.model, make_batch(task.train, step_batches.front().rows),
                             MaskStream::of_step(training.seed, step)),
                    task.device);
      diagnosis.emplace(model, batch.source, batch.target_input);
    }
    scale_down(parameters, norm, training.clip_norm);
    const double rate = learning_rate(training, task.config.model.d_model, step);
    optimizer.step(rate);
    if (diagnosis) on_event(Diagnosed{step, diagnosis->after_update()});

    const Position position = batches.position();
    const double elapsed = seconds_since(start);
    if (task.on_step) task.on_step();
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
    progress.interval_tokens += sums.predicted;
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
    progress.validation_due =
        task.valid != nullptr && training.validate_every > 0 && step % training.validate_every == 0;
    if (progress.validation_due) validate();
    const bool stop = ranks.any(stopped());
    if (step % training.checkpoint_every == 0 || is_last || stop) {
      if (const auto weight = non_finite_weight(parameters); !weight.empty()) {
        refuse("after its update the weight " + weight);
      }
      save();
    }
    if (stop && !is_last) {
      ranks.leave();
      return {progress, true};
    }
  }
  ranks.leave();
  return {progress, false};
}

}  // namespace transformer
