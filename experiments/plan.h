#pragma once

// What a sweep would cost, before anything is trained.

#include <functional>
#include <optional>
#include <string>

#include "experiments/record.h"
#include "experiments/sweep.h"
#include "transformer/analysis/flops.h"

namespace transformer {

// Empty: not known. Without V nothing is but what the row sets.
struct RowPlan {
  std::string id;
  std::string group;
  Json set = Json::object();
  std::optional<int64_t> parameters;   // exact
  std::optional<double> flops;         // of the whole training, one seed
  std::optional<double> memory_bytes;  // at the peak of the run, predicted
  std::optional<double> seconds;       // of training, predicted: the FLOPs at a rate
  PaperFigures paper;
  std::optional<double> measured_memory_bytes{};  // the most of the row's complete runs
  std::optional<double> measured_seconds{};       // their mean

  static void visit(auto& self, auto&& field) {
    field("id", self.id);
    field("group", self.group);
    field("set", self.set);
    field("parameters", self.parameters);
    field("flops", self.flops);
    field("memory_bytes", self.memory_bytes);
    field("seconds", self.seconds);
    field("paper", self.paper);
    field("measured_memory_bytes", self.measured_memory_bytes);
    field("measured_seconds", self.measured_seconds);
  }
};

// The batch that estimates are made for: tokens_per_batch full on both sides, in sentences of 32
// pieces. Real batches hold somewhat less on the shorter side, so FLOPs come out a little high.
BatchShape typical_batch(const Config& config);

// Of a resolved config that states V: the FLOPs of its whole training.
double total_flops(const Config& config);

// What a run of the config holds in memory at its peak: `program_bytes` for the program itself, its
// tensors (analysis/training_memory.h), and the pairs: the mapped file of a fifth more than their
// text, which is read in the order of two epochs. Text that is not there counts nothing. Learning a
// vocabulary, which comes before, is not in it.
double peak_memory(const Config& config, double program_bytes);

// FLOPs a second of a run of the config; empty where it is not known.
using Rate = std::function<std::optional<double>(const Config&)>;
RowPlan plan(const SweepRow& row, const Rate& flops_per_second, double program_bytes = 0);

// Beside the prediction what the row's complete runs measured.
void add_measured(RowPlan& row, const Results& results);

// Processes at a time: small models gain little from a second thread, so 2 from 2 cores on, 4 from
// 8 and 8 from 32; but no more than there are runs, nor than fit into 80 % of the memory.
// `run_bytes` is the largest run's, 0 where it is not known.
int64_t default_jobs(const Machine& machine, double run_bytes, int64_t runs);

}  // namespace transformer
