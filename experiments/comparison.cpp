#include "experiments/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "experiments/layout.h"
#include "experiments/translations.h"
#include "transformer/config.h"
#include "transformer/error.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

using Strings = std::vector<std::string>;

Strings shown_values(const RowSummary& row, const Strings& keys) {
  Strings values;
  for (const auto& key : keys) values.push_back(shown_value(key, row));
  return values;
}

bool varies(const Summary& summary, const std::string& key) {
  return std::any_of(summary.rows.begin(), summary.rows.end(), [&](const RowSummary& row) {
    return shown_value(key, row) != shown_value(key, summary.rows.front());
  });
}

Strings compared_keys(const Summary& summary, const Strings& names) {
  Strings keys, varying;
  for (const auto& key : keys_set(summary)) {
    if (varies(summary, key)) varying.push_back(key);
  }
  for (const auto& name : names) {
    const std::string key = full_key(name, "--by");
    if (key == "training.seed") {
      throw UserError("--by: training.seed: runs are paired by it; name another key");
    }
    if (!varies(summary, key)) {
      throw UserError(
          "--by: " + key + ": is " + shown_value(key, summary.rows.front()) +
          " in every row; keys that vary: " + (varying.empty() ? "none" : listed(varying)));
    }
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) {
      throw UserError("--by: " + key + ": is given twice");
    }
    keys.push_back(key);
  }
  return keys;
}

// What rows must have alike to be compared.
Strings other_keys(const Summary& summary, const Strings& keys) {
  Strings others;
  for (const auto& key : keys_set(summary)) {
    const bool is_compared = std::find(keys.begin(), keys.end(), key) != keys.end();
    if (!is_compared && varies(summary, key)) others.push_back(key);
  }
  return others;
}

ComparedRow compared_row(const RowSummary& row, const DetailsOf& details,
                         const ComparisonOptions& options) {
  ComparedRow compared{.row = &row};
  std::vector<double> perplexities, bleus, steps;
  for (const auto& run : row.runs) {
    if (run.state != RunState::complete && run.state != RunState::diverged) continue;
    ComparedRun one{.run = &run, .details = details(run)};
    one.diverged = run.state == RunState::diverged ||
                   (options.diverged_above && run.result->perplexity > *options.diverged_above);
    one.counted = !one.diverged;
    if (options.reach) one.reached = first_step_at(one.details.curve.validation, *options.reach);
    ++compared.done;
    if (one.diverged) ++compared.diverged;
    if (one.reached) steps.push_back(static_cast<double>(*one.reached));
    if (one.counted) {
      perplexities.push_back(run.result->perplexity);
      if (run.result->bleu) bleus.push_back(*run.result->bleu);
    }
    compared.runs.push_back(std::move(one));
  }
  compared.reaching = std::ssize(steps);
  if (!perplexities.empty()) compared.perplexity = figure(perplexities);
  if (!bleus.empty()) compared.bleu = figure(bleus);
  if (!steps.empty()) compared.steps_to = figure(steps);
  return compared;
}

// Differences of a row to its baseline, pair by pair.
struct Differences {
  std::vector<double> perplexity, bleu;
};

// Both have a BLEU.
BleuComparison compared_bleu(const ComparedRun& baseline, const ComparedRun& run,
                             const PairedTestOptions& tests) {
  BleuComparison compared{
      run.run->seed, *run.run->result->bleu - *baseline.run->result->bleu, {}, {}};
  const auto& theirs = baseline.details.sentences;
  const auto& ours = run.details.sentences;
  const bool same = theirs == ours || compared.difference == 0;
  if (theirs.empty() || theirs.size() != ours.size() || same) return compared;
  compared.bootstrap = paired_bootstrap(theirs, ours, tests);
  compared.randomisation = approximate_randomisation(theirs, ours, tests);
  return compared;
}

Differences compare_pairs(const ComparedRow& baseline, ComparedRow& row,
                          const PairedTestOptions& tests) {
  Differences differences;
  for (const auto& run : row.runs) {
    const auto pair =
        std::find_if(baseline.runs.begin(), baseline.runs.end(),
                     [&](const ComparedRun& other) { return other.run->seed == run.run->seed; });
    if (pair == baseline.runs.end() || !pair->counted || !run.counted) continue;
    differences.perplexity.push_back(run.run->result->perplexity - pair->run->result->perplexity);
    if (!run.run->result->bleu || !pair->run->result->bleu) continue;
    row.tests.push_back(compared_bleu(*pair, run, tests));
    differences.bleu.push_back(row.tests.back().difference);
  }
  if (!differences.perplexity.empty()) row.perplexity_difference = figure(differences.perplexity);
  if (!differences.bleu.empty()) row.bleu_difference = figure(differences.bleu);
  return differences;
}

// The rows by what they have alike, in the sweep's order.
std::vector<std::vector<const RowSummary*>> matched(const Summary& summary, const Strings& others) {
  std::vector<std::vector<const RowSummary*>> groups;
  std::map<Strings, size_t> index;
  for (const auto& row : summary.rows) {
    const auto [found, is_new] = index.emplace(shown_values(row, others), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(&row);
  }
  return groups;
}

Strings stated_baseline(const Summary& summary, const Strings& keys, const Strings& stated) {
  if (stated.empty()) return shown_values(summary.rows.front(), keys);
  if (stated.size() != keys.size()) {
    throw UserError("--baseline: expected a value of each of " + listed(keys) + "; got " +
                    listed(stated));
  }
  std::set<Strings> all;
  for (const auto& row : summary.rows) all.insert(shown_values(row, keys));
  if (all.contains(stated)) return stated;
  Strings shown;
  for (const auto& values : all) shown.push_back(listed(values));
  throw UserError("--baseline: no row has " + listed(keys) + " = " + listed(stated) +
                  nearest_key(listed(stated), shown));
}

}  // namespace

DetailsOf details_in(const fs::path& sweep) {
  return [sweep](const RunRecord& run) {
    const fs::path folder = run_folder_in(sweep, run.id, run.seed);
    RunDetails details{read_learning_curve(folder / "metrics.jsonl"), {}};
    const bool translates = run.result && run.result->bleu;
    const auto kept = translates ? read_translations(folder) : std::nullopt;
    if (!kept || kept->hypotheses.size() != kept->references.size()) return details;
    auto sentences = corpus_statistics(kept->hypotheses, kept->references);
    BleuStatistics sum;
    for (const auto& sentence : sentences) sum += sentence;
    constexpr double kRounding = 1e-6;
    const bool are_these = std::abs(bleu_score(sum).score - *run.result->bleu) < kRounding;
    if (are_these) details.sentences = std::move(sentences);
    return details;
  };
}

Comparison compare(const Summary& summary, const DetailsOf& details,
                   const ComparisonOptions& options) {
  if (summary.rows.empty()) throw UserError("compare: the sweep has no rows");
  Comparison comparison;
  comparison.keys = compared_keys(summary, options.keys);
  comparison.setting_keys = other_keys(summary, comparison.keys);
  comparison.baseline = stated_baseline(summary, comparison.keys, options.baseline);

  std::map<Strings, size_t> values;  // where each stands in `overall`
  std::vector<Differences> differences;
  for (const auto& group : matched(summary, comparison.setting_keys)) {
    if (group.size() == 1) {
      comparison.unmatched.push_back(group.front()->row.id);
      continue;
    }
    ComparedSetting setting;
    for (const auto* row : group) {
      if (shown_values(*row, comparison.keys) == comparison.baseline) {
        setting.baseline = setting.rows.size();
      }
      setting.rows.push_back(compared_row(*row, details, options));
    }
    for (size_t i = 0; i < setting.rows.size(); ++i) {
      auto& row = setting.rows[i];
      const auto [found, is_new] =
          values.emplace(shown_values(*row.row, comparison.keys), comparison.overall.size());
      if (is_new) {
        comparison.overall.push_back({.row = row.row});
        differences.emplace_back();
      }
      auto& value = comparison.overall[found->second];
      value.done += row.done;
      value.diverged += row.diverged;
      if (!setting.baseline || i == *setting.baseline) continue;
      const auto pairs = compare_pairs(setting.rows[*setting.baseline], row, options.tests);
      auto& all = differences[found->second];
      all.perplexity.insert(all.perplexity.end(), pairs.perplexity.begin(), pairs.perplexity.end());
      all.bleu.insert(all.bleu.end(), pairs.bleu.begin(), pairs.bleu.end());
    }
    comparison.settings.push_back(std::move(setting));
  }
  if (comparison.settings.empty()) {
    throw UserError("--by " + listed(comparison.keys) +
                    ": no two rows differ in this alone; what varies besides: " +
                    listed(comparison.setting_keys) +
                    "; name what changes together, separated by commas");
  }
  for (size_t i = 0; i < differences.size(); ++i) {
    auto& value = comparison.overall[i];
    const auto& [perplexity, bleu] = differences[i];
    if (!perplexity.empty()) value.perplexity_difference = figure(perplexity);
    if (!bleu.empty()) value.bleu_difference = figure(bleu);
  }
  return comparison;
}

}  // namespace transformer
