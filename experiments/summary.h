#pragma once

// What a sweep found, row by row, over its seeds: the figures that tables show.

#include <optional>
#include <string>
#include <vector>

#include "experiments/record.h"

namespace transformer {

// Over the complete runs of a row.
struct Figure {
  int64_t n = 0;
  double mean = 0;
  std::optional<double> standard_deviation;  // the sample's, n - 1; none of a single run
};

struct RowSummary {
  RowRecord row;
  Json values =
      Json::object();  // its resolved config by dotted key; what it set where that is unknown
  std::vector<RunRecord> runs;  // in the order of their seeds' appearance
  int64_t complete = 0;
  int64_t diverged = 0;
  // None without a complete run.
  std::optional<Figure> perplexity, bleu, parameters;
  std::optional<Figure> seconds, tokens_per_second, flops, peak_memory_bytes;  // of training
};

// Of our means with the paper's figures, over the rows that have both: four at least, fewer rank as
// they fall.
struct RankCorrelation {
  double spearman = 0;
  int64_t rows = 0;
};

struct Summary {
  std::vector<RowSummary> rows;
  int64_t runs = 0;
  int64_t complete = 0;
  int64_t diverged = 0;
  std::optional<RankCorrelation> perplexity, bleu;
  std::vector<std::string> bleu_signatures, machines, versions;  // each once, of complete runs
};

Figure figure(const std::vector<double>& values);

Summary summarize(const Results& results);

// A row's state: complete where every run is; else the state of the worst, failed before running
// before interrupted before missing before diverged.
RunState state_of(const RowSummary& row);

}  // namespace transformer
