#include "experiments/table_notes.h"

#include <algorithm>

#include "experiments/departures.h"
#include "experiments/layout.h"
#include "transformer/config.h"
#include "transformer/printable.h"

namespace transformer {

namespace {

std::string joined(const std::vector<std::string>& all) {
  std::string text;
  for (const auto& one : all) text += (text.empty() ? "" : "; ") + one;
  return text;
}

std::string correlation_note(const Summary& summary) {
  std::string text;
  for (const auto& [name, correlation] :
       {std::pair{"PPL", &summary.perplexity}, {"BLEU", &summary.bleu}}) {
    if (!*correlation) continue;
    text += (text.empty() ? "" : ", ") + std::string(name) + " " +
            fixed((*correlation)->spearman, 2) + " (n = " + std::to_string((*correlation)->rows) +
            " rows)";
  }
  return text.empty() ? "" : "Spearman's rank correlation with the paper: " + text + ".";
}

std::string incomplete_note(const Summary& summary) {
  constexpr size_t kMost = 100;  // bytes of a message: the log has it whole
  std::vector<std::string> all;
  for (const auto& row : summary.rows) {
    if (!is_begun(row)) continue;
    for (const auto& run : row.runs) {
      if (run.state == RunState::complete || run.state == RunState::diverged) continue;
      std::string why = run.message.empty() ? "" : printable(run.message, kMost);
      if (!why.empty()) why = (run.state == RunState::failed ? ": " : " ") + why;
      all.push_back(row.row.id + " seed " + std::to_string(run.seed) + " (" + name_of(run.state) +
                    why + ")");
    }
  }
  return all.empty() ? "" : "Not complete, counted in no figure: " + joined(all) + ".";
}

std::string diverged_note(const Summary& summary) {
  std::vector<std::string> all;
  for (const auto& row : summary.rows) {
    for (const auto& run : row.runs) {
      if (run.state != RunState::diverged) continue;
      all.push_back(row.row.id + " seed " + std::to_string(run.seed) + " (at step " +
                    std::to_string(run.diverged_at.value_or(0)) + ")");
    }
  }
  return all.empty() ? "" : "Diverged, so without figures: " + joined(all) + ".";
}

std::string lost_note(const Summary& summary) {
  std::vector<std::string> all;
  for (const auto& row : summary.rows) {
    for (const auto& run : row.runs) {
      if (run.is_lost) all.push_back(row.row.id + " seed " + std::to_string(run.seed));
    }
  }
  if (all.empty()) return "";
  const bool is_all = std::ssize(all) == summary.complete;
  return "From results.json alone, the runs' own result.json being gone: " +
         (is_all ? "all runs" : joined(all)) + ".";
}

std::string not_begun_note(const Summary& summary) {
  constexpr size_t kNamed = 8;
  std::string names;
  size_t count = 0;
  for (const auto& row : summary.rows) {
    if (is_begun(row)) continue;
    if (++count <= kNamed) names += (count == 1 ? "" : ", ") + row.row.id;
  }
  if (count == 0) return "";
  if (count > kNamed) names += " and " + std::to_string(count - kNamed) + " more";
  return "Not begun: " + names + ".";
}

std::string unmatched_note(const Summary& summary, const OtherSweep& other) {
  const auto names_missing = [](const Summary& here, const Summary& there) {
    std::vector<std::string> names;
    for (const auto& row : here.rows) {
      if (row_of(there, row.row.id) == nullptr) names.push_back(row.row.id);
    }
    return names;
  };
  std::string text;
  for (const auto& [name, missing] :
       {std::pair{other.own_name, names_missing(summary, other.summary)},
        std::pair{other.name, names_missing(other.summary, summary)}}) {
    if (missing.empty()) continue;
    text += (text.empty() ? "Only in " : "; only in ") + name + ": " + listed(missing);
  }
  return text.empty() ? "" : text + ".";
}

// Whose perplexity is another quantity than the other rows'.
std::vector<std::string> masked_notes(const Summary& summary) {
  std::vector<std::string> rows;
  for (const auto& row : summary.rows) {
    const auto family = row.values.find("model.family");
    if (family != row.values.end() && *family == name_of(Family::encoder_only)) {
      rows.push_back(row.row.id);
    }
  }
  if (rows.empty()) return {};
  return {"PPL of " + listed(rows) +
          ": over the masked word-pieces alone, each given all others; not to be compared with the "
          "rows that are not encoder_only."};
}

std::string marks_note(const Summary& summary, const PValues& p_values) {
  const RowSummary* base = base_row(summary);
  if (base == nullptr) return "";
  std::vector<std::string> untested;
  for (const auto& row : summary.rows) {
    if (&row != base && row.bleu && !p_values.contains(row.row.id)) untested.push_back(row.row.id);
  }
  std::string text;
  if (!p_values.empty()) {
    text =
        "*, **: BLEU differs from base's, p < 0.05 or 0.01 (approximate randomisation over the "
        "sentences, 1,000 trials, for every seed; not corrected for the number of rows).";
  }
  if (untested.empty()) return text;
  return text + (text.empty() ? "" : " ") + "Not tested, as translations of a seed are not there " +
         "both of base and of " + listed(untested) + ".";
}

// Whether a row has several runs, whose deviation is told.
bool has_deviations(const Summary& summary) {
  return std::any_of(summary.rows.begin(), summary.rows.end(),
                     [](const auto& row) { return row.complete > 1; });
}

std::vector<std::string> run_notes(const Summary& summary) {
  return {
      "Runs complete: " + std::to_string(summary.complete) + " of " + std::to_string(summary.runs) +
          (summary.diverged == 0 ? "." : "; " + std::to_string(summary.diverged) + " diverged."),
      diverged_note(summary), incomplete_note(summary), lost_note(summary),
      not_begun_note(summary)};
}

std::vector<std::string> origin_notes(const Summary& summary) {
  std::vector<std::string> all;
  for (const auto& [name, values] : {std::pair{"BLEU: ", &summary.bleu_signatures},
                                     {"Machine: ", &summary.machines},
                                     {"Version: transformer ", &summary.versions}}) {
    if (!values->empty()) all.push_back(name + joined(*values));
  }
  return all;
}

// Of one sweep, or of each of two, by its name.
std::vector<std::string> of_each(const Summary& summary, const TableOptions& options,
                                 const auto& notes_of) {
  if (!options.other) return notes_of(summary);
  std::vector<std::string> all;
  const auto& [own_name, name, other, unused] = *options.other;
  for (const auto& [whose, of] : {std::pair{own_name, &summary}, {name, &other}}) {
    for (const auto& note : notes_of(*of)) {
      if (!note.empty()) all.push_back(whose + ": " + note);
    }
  }
  return all;
}

}  // namespace

bool is_begun(const RowSummary& row) {
  return std::any_of(row.runs.begin(), row.runs.end(),
                     [](const RunRecord& run) { return run.state != RunState::missing; });
}

const RowSummary* row_of(const Summary& summary, const std::string& id) {
  for (const auto& row : summary.rows) {
    if (row.row.id == id) return &row;
  }
  return nullptr;
}

std::vector<std::string> table_notes(const Summary& summary, const TableOptions& options) {
  const bool with_base = base_row(summary) != nullptr;
  std::vector<std::string> all = of_each(summary, options, run_notes);
  if (has_deviations(summary) || (options.other && has_deviations(options.other->summary))) {
    all.emplace_back("±: sample standard deviation (n - 1) over a row's complete runs.");
  }
  if (options.p_values) all.push_back(marks_note(summary, *options.p_values));
  all.push_back(options.other ? unmatched_note(summary, *options.other)
                              : correlation_note(summary));
  if (with_base) all.emplace_back("Blank: as in base.");
  std::vector<RowRecord> begun;
  for (const auto& row : summary.rows) {
    if (is_begun(row) || row.row.group == "base") begun.push_back(row.row);
  }
  for (auto& note : departure_notes(begun)) all.push_back(std::move(note));
  all.emplace_back(
      "PPL: exp of the mean natural-log loss per target word-piece, end-of-sentence included, "
      "without label smoothing.");
  for (const auto notes_of : {masked_notes, origin_notes}) {
    for (auto& note : of_each(summary, options, notes_of)) all.push_back(std::move(note));
  }
  std::erase(all, "");
  return all;
}

}  // namespace transformer
