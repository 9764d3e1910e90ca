#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "experiments/comparison_report.h"
#include "experiments/layout.h"

namespace transformer {

namespace {

using Points = std::vector<CurvePoint>;

std::string number_text(double value, int digits, bool with_sign = false) {
  char text[64];
  std::snprintf(text, sizeof text, with_sign ? "%+.*f" : "%.*f", digits, value);
  return text;
}

std::string figure_text(const std::optional<Figure>& figure, int digits, bool with_sign = false) {
  if (!figure) return "";
  const auto& deviation = figure->standard_deviation;
  return number_text(figure->mean, digits, with_sign) +
         (deviation ? " ± " + number_text(*deviation, digits) : "");
}

// Easy corpora need more digits to be told apart.
int perplexity_digits(const Comparison& comparison) {
  double least = INFINITY;
  for (const auto& setting : comparison.settings) {
    for (const auto& row : setting.rows) {
      if (row.perplexity) least = std::min(least, row.perplexity->mean);
    }
  }
  return least < 2 ? 3 : 2;
}

// Of several seeds the largest.
std::string p_text(const ComparedRow& row, std::optional<double> BleuComparison::*p) {
  std::optional<double> largest;
  for (const auto& test : row.tests) {
    if (test.*p) largest = std::max(largest.value_or(0), *(test.*p));
  }
  return largest ? number_text(*largest, 4) : "";
}

std::string share_text(int64_t part, int64_t whole) {
  return whole == 0 ? "" : std::to_string(part) + "/" + std::to_string(whole);
}

std::string steps_text(const ComparedRow& row) {
  if (row.done == 0) return "";
  if (row.reaching == 0) return "never";
  const std::string steps = figure_text(row.steps_to, 0);
  return row.reaching == row.done ? steps : steps + " (" + share_text(row.reaching, row.done) + ")";
}

std::string joined_by(const std::vector<std::string>& all, const std::string& between) {
  std::string text;
  for (const auto& one : all) text += (text.empty() ? "" : between) + one;
  return text;
}

std::string keys_and_values(const std::vector<std::string>& keys,
                            const std::vector<std::string>& values) {
  std::vector<std::string> all;
  for (size_t i = 0; i < keys.size(); ++i) all.push_back(keys[i] + " = " + values[i]);
  return joined_by(all, ", ");
}

// The columns that say which row it is, and their cells.
std::vector<Column> name_columns(const Comparison& comparison) {
  auto keys = comparison.setting_keys;
  keys.insert(keys.end(), comparison.keys.begin(), comparison.keys.end());
  std::vector<Column> columns;
  for (const auto& heading : headings(keys)) columns.push_back({"", heading});
  return columns;
}

std::vector<Cell> name_cells(const Comparison& comparison, const RowSummary& row, bool is_first) {
  std::vector<Cell> cells;
  for (const auto& key : comparison.setting_keys) {
    cells.push_back({is_first ? shown_value(key, row) : ""});
  }
  for (const auto& key : comparison.keys) cells.push_back({shown_value(key, row)});
  return cells;
}

// The group of a table's row is its setting, so that a rule stands between two.
std::string group_of(size_t setting) { return "setting " + std::to_string(setting); }

std::string runs_note(const Summary& summary) {
  std::string text =
      "Runs complete: " + std::to_string(summary.complete) + " of " + std::to_string(summary.runs);
  if (summary.diverged > 0) text += "; " + std::to_string(summary.diverged) + " diverged";
  return text + ".";
}

std::string diverged_steps_note(const Comparison& comparison) {
  std::vector<std::string> all;
  for (const auto& setting : comparison.settings) {
    for (const auto& row : setting.rows) {
      for (const auto& run : row.runs) {
        if (!run.run->diverged_at) continue;
        all.push_back(row.row->row.id + " seed " + std::to_string(run.run->seed) + " (" +
                      std::to_string(*run.run->diverged_at) + ")");
      }
    }
  }
  return all.empty() ? "" : "Diverged at step: " + joined_by(all, "; ") + ".";
}

bool has_several_runs(const Comparison& comparison) {
  for (const auto& setting : comparison.settings) {
    for (const auto& row : setting.rows) {
      if (row.done > 1) return true;
    }
  }
  return false;
}

std::vector<std::string> comparison_notes(const Summary& summary, const Comparison& comparison,
                                          const ComparisonOptions& options) {
  const auto& tests = options.tests;
  std::vector<std::string> notes = {
      runs_note(summary), "Differences: to " +
                              keys_and_values(comparison.keys, comparison.baseline) +
                              ", of runs with the same seed and alike in every other key."};
  if (has_several_runs(comparison)) {
    notes.emplace_back(
        "±: sample standard deviation (n - 1), of figures over seeds, of "
        "differences over pairs.");
  }
  notes.push_back(
      "p: two-sided, of the BLEU of two runs on the sentences of data.valid, by sacreBLEU's paired "
      "bootstrap (" +
      std::to_string(tests.bootstrap_samples) + " samples) and approximate randomisation (" +
      std::to_string(tests.randomisation_trials) + " trials), seed " + std::to_string(tests.seed) +
      "; of several seeds the largest. Blank where translations are not there, or the same.");
  notes.push_back(std::string("Diverged: runs whose loss or gradient was not finite") +
                  (options.diverged_above ? ", or whose perplexity ended above " +
                                                number_text(*options.diverged_above, 2)
                                          : "") +
                  ", of all that are done; they are in no mean and no difference.");
  notes.push_back(diverged_steps_note(comparison));
  if (options.reach) {
    notes.push_back("Steps: the first validation with a perplexity of at most " +
                    number_text(*options.reach, 2) +
                    "; the mean over the runs that had one, and how many where not all.");
  }
  if (!comparison.unmatched.empty()) {
    notes.push_back("Not compared, for no row differs from them in this alone: " +
                    joined_by(comparison.unmatched, ", ") + ".");
  }
  for (const auto& signature : summary.bleu_signatures) notes.push_back("BLEU: " + signature);
  std::erase(notes, "");
  return notes;
}

// Of the validations; of the training batches where there are none.
const Points& shown_points(const ComparedRun& run, bool is_validated) {
  return is_validated ? run.details.curve.validation : run.details.curve.training;
}

// At most so many of them, evenly spaced, the last among them.
std::vector<int64_t> some_steps(const std::map<int64_t, int>& all, size_t most) {
  std::vector<int64_t> steps;
  for (const auto& [step, unused] : all) steps.push_back(step);
  if (steps.size() <= most) return steps;
  std::vector<int64_t> some;
  for (size_t i = 1; i <= most; ++i) some.push_back(steps[i * steps.size() / most - 1]);
  return some;
}

std::string mean_at(const ComparedRow& row, int64_t step, bool is_validated, int digits) {
  double sum = 0;
  int64_t count = 0;
  for (const auto& run : row.runs) {
    for (const auto& point : shown_points(run, is_validated)) {
      if (point.step != step) continue;
      sum += point.perplexity;
      ++count;
    }
  }
  return count == 0 ? "" : number_text(sum / static_cast<double>(count), digits);
}

}  // namespace

Table comparison_table(const Summary& summary, const Comparison& comparison,
                       const ComparisonOptions& options) {
  const int digits = perplexity_digits(comparison);
  const std::string difference = "difference to " + joined_by(comparison.baseline, ", ");
  Table table;
  table.columns = name_columns(comparison);
  for (const auto& column : std::vector<Column>{{"", "PPL (dev)"},
                                                {"", "BLEU (dev)"},
                                                {difference, "PPL"},
                                                {difference, "BLEU"},
                                                {"p of BLEU", "bootstrap"},
                                                {"p of BLEU", "randomisation"},
                                                {"", "diverged"}}) {
    table.columns.push_back(column);
  }
  if (options.reach) {
    table.columns.push_back({"", "steps to PPL " + number_text(*options.reach, 2)});
  }
  for (size_t i = 0; i < comparison.settings.size(); ++i) {
    const auto& rows = comparison.settings[i].rows;
    for (const auto& row : rows) {
      TableRow line{group_of(i), name_cells(comparison, *row.row, &row == rows.data())};
      for (const auto& text :
           {figure_text(row.perplexity, digits), figure_text(row.bleu, 1),
            figure_text(row.perplexity_difference, digits, true),
            figure_text(row.bleu_difference, 1, true), p_text(row, &BleuComparison::bootstrap),
            p_text(row, &BleuComparison::randomisation), share_text(row.diverged, row.done)}) {
        line.cells.push_back({text});
      }
      if (options.reach) line.cells.push_back({steps_text(row)});
      table.rows.push_back(std::move(line));
    }
  }
  if (comparison.settings.size() > 1) {
    for (const auto& value : comparison.overall) {
      TableRow line{"all", name_cells(comparison, *value.row, false)};
      if (&value == comparison.overall.data()) line.cells.front().text = "all";
      for (const auto& text :
           {std::string(), std::string(), figure_text(value.perplexity_difference, digits, true),
            figure_text(value.bleu_difference, 1, true), std::string(), std::string(),
            share_text(value.diverged, value.done)}) {
        line.cells.push_back({text});
      }
      if (options.reach) line.cells.push_back({""});
      table.rows.push_back(std::move(line));
    }
  }
  table.notes = comparison_notes(summary, comparison, options);
  return table;
}

Table curves_table(const Comparison& comparison) {
  constexpr size_t kMostSteps = 8;
  bool is_validated = false;
  for (const auto& setting : comparison.settings) {
    for (const auto& row : setting.rows) {
      for (const auto& run : row.runs) is_validated |= !run.details.curve.validation.empty();
    }
  }
  std::map<int64_t, int> all;
  for (const auto& setting : comparison.settings) {
    for (const auto& row : setting.rows) {
      for (const auto& run : row.runs) {
        for (const auto& point : shown_points(run, is_validated)) ++all[point.step];
      }
    }
  }
  Table table;
  if (all.empty()) return table;
  table.columns = name_columns(comparison);
  const auto steps = some_steps(all, kMostSteps);
  const std::string section =
      is_validated ? "perplexity of data.valid after step" : "perplexity in training, to step";
  for (const int64_t step : steps) table.columns.push_back({section, std::to_string(step)});
  const int digits = perplexity_digits(comparison);
  for (size_t i = 0; i < comparison.settings.size(); ++i) {
    const auto& rows = comparison.settings[i].rows;
    for (const auto& row : rows) {
      TableRow line{group_of(i), name_cells(comparison, *row.row, &row == rows.data())};
      for (const int64_t step : steps) {
        line.cells.push_back({mean_at(row, step, is_validated, digits)});
      }
      table.rows.push_back(std::move(line));
    }
  }
  table.notes = {is_validated
                     ? "Means over the runs of a row that came so far."
                     : "No run was validated (training.validate_every): of the training batches, "
                       "with dropout, over the steps since the one before in metrics.jsonl."};
  return table;
}

std::string format_comparison(const Summary& summary, const Comparison& comparison,
                              const ComparisonOptions& options, ComparisonFormat format) {
  const Table curves = curves_table(comparison);
  switch (format) {
    case ComparisonFormat::text:
      return to_text(comparison_table(summary, comparison, options)) +
             (curves.rows.empty() ? "" : "\n" + to_text(curves));
    case ComparisonFormat::markdown:
      return to_markdown(comparison_table(summary, comparison, options)) +
             (curves.rows.empty() ? "" : "\n" + to_markdown(curves));
    case ComparisonFormat::json:
      return text_of(to_json(comparison, options), 2) + "\n";
  }
  return "";
}

}  // namespace transformer
