#pragma once

// Which settings of a sweep are columns, and what stands in them.

#include <optional>
#include <string>
#include <vector>

#include "experiments/summary.h"

namespace transformer {

// The columns of the paper's Table 3, in its order.
const std::vector<std::string>& table3_keys();

// The row that others are compared with: of group "base". Null where a sweep has none.
const RowSummary* base_row(const Summary& summary);

// Whether all that tells the row from base is the kind of its positions: Table 3 (E), which the
// paper says in words across its columns.
bool only_positions_differ(const RowSummary& row, const RowSummary& base);

// With a base: Table 3's keys, then others in which a row differs from base. Without: the keys that
// rows set to different values.
std::vector<std::string> column_keys(const Summary& summary);

// Keys that any row sets, in the order in which they are first set. Seeds tell runs apart, not
// rows.
std::vector<std::string> keys_set(const Summary& summary);

// "d_k" of "model.d_k", but the whole key where two would look alike.
std::vector<std::string> headings(const std::vector<std::string>& keys);

// "model.h" of "h", where no other section of a config has such a key. Throws UserError, which
// names `option`, on a name that no key has or more than one. `others`: what the option takes
// beside keys.
std::string full_key(const std::string& name, const std::string& option,
                     const std::vector<std::string>& others = {});

// With so many digits after the point.
std::string fixed(double value, int digits);

// "perplexity 4.920, BLEU 25.8", without BLEU where there is none. From 10 on perplexities have two
// digits.
std::string shown_figures(double perplexity, const std::optional<double>& bleu);

// With ", " between two.
std::string listed(const std::vector<std::string>& all);

// As the paper writes it: train_steps in thousands, 0.0 for no dropout. Blank where unknown.
std::string shown_value(const std::string& key, const RowSummary& row);

}  // namespace transformer
