#include "experiments/layout.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "transformer/config.h"
#include "transformer/error.h"

namespace transformer {

namespace {

constexpr const char* kPositions = "model.positions";

Json value(const std::string& key, const RowSummary& row) {
  const auto found = row.values.find(key);
  return found == row.values.end() ? Json() : *found;
}

bool is_table3_key(const std::string& key) {
  return std::find(table3_keys().begin(), table3_keys().end(), key) != table3_keys().end();
}

}  // namespace

const std::vector<std::string>& table3_keys() {
  static const std::vector<std::string> keys = {
      "model.N",      "model.d_model",   "model.d_ff",          "model.h", "model.d_k", "model.d_v",
      "model.P_drop", "training.eps_ls", "training.train_steps"};
  return keys;
}

std::vector<std::string> keys_set(const Summary& summary) {
  std::vector<std::string> keys;
  for (const auto& row : summary.rows) {
    for (const auto& [key, unused] : row.row.set.items()) {
      const bool known = std::find(keys.begin(), keys.end(), key) != keys.end();
      if (!known && key != "training.seed") keys.push_back(key);
    }
  }
  return keys;
}

const RowSummary* base_row(const Summary& summary) {
  for (const auto& row : summary.rows) {
    if (row.row.group == "base") return &row;
  }
  return nullptr;
}

bool only_positions_differ(const RowSummary& row, const RowSummary& base) {
  if (value(kPositions, row) == value(kPositions, base)) return false;
  std::vector<std::string> keys = table3_keys();
  for (const auto& [key, unused] : row.row.set.items()) keys.push_back(key);
  return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
    const Json ours = value(key, row);
    return key == kPositions || ours.is_null() || ours == value(key, base);
  });
}

std::vector<std::string> column_keys(const Summary& summary) {
  const RowSummary* base = base_row(summary);
  std::vector<std::string> columns;
  if (base != nullptr) columns = table3_keys();
  for (const auto& key : keys_set(summary)) {
    if (base != nullptr && is_table3_key(key)) continue;
    const auto& reference = base != nullptr ? *base : summary.rows.front();
    const bool varies =
        std::any_of(summary.rows.begin(), summary.rows.end(), [&](const RowSummary& row) {
          if (base != nullptr && key == kPositions && only_positions_differ(row, *base))
            return false;
          return value(key, row) != value(key, reference);
        });
    if (varies || summary.rows.size() == 1) columns.push_back(key);
  }
  return columns;
}

std::vector<std::string> headings(const std::vector<std::string>& keys) {
  const auto last = [](const std::string& key) { return key.substr(key.rfind('.') + 1); };
  std::multiset<std::string> all;
  for (const auto& key : keys) all.insert(last(key));
  std::vector<std::string> headings;
  for (const auto& key : keys) headings.push_back(all.count(last(key)) > 1 ? key : last(key));
  return headings;
}

std::string full_key(const std::string& name, const std::string& option,
                     const std::vector<std::string>& others) {
  auto known = known_keys<Config>();
  if (std::find(known.begin(), known.end(), name) != known.end()) return name;
  std::vector<std::string> fitting;
  for (const auto& key : known) {
    if (key.ends_with("." + name)) fitting.push_back(key);
  }
  if (fitting.size() == 1) return fitting.front();
  const std::string named = option + ": " + fields::shown_name(name);
  if (!fitting.empty())
    throw UserError(named + ": could be " + listed(fitting) + "; name it whole");
  known.insert(known.begin(), others.begin(), others.end());
  throw UserError(named + ": unknown " + (others.empty() ? "key" : "name") +
                  nearest_key(name, known));
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string shown_figures(double perplexity, const std::optional<double>& bleu) {
  return "perplexity " + fixed(perplexity, perplexity < 10 ? 3 : 2) +
         (bleu ? ", BLEU " + fixed(*bleu, 1) : "");
}

std::string listed(const std::vector<std::string>& all) {
  std::string text;
  for (const auto& one : all) text += (text.empty() ? "" : ", ") + one;
  return text;
}

std::string shown_value(const std::string& key, const RowSummary& row) {
  const Json found = value(key, row);
  if (found.is_null()) return "";
  if (found.is_string()) return found.get<std::string>();
  if (key == "training.train_steps" && found.is_number_integer() && found != 0) {
    const auto steps = found.get<int64_t>();
    if (steps % 1000 == 0) return std::to_string(steps / 1000) + "K";
  }
  return text_of(found);
}

}  // namespace transformer
