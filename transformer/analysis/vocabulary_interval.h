#pragma once

#include <cstdint>
#include <vector>

#include "transformer/config.h"

namespace transformer {

// Vocabulary sizes, both ends included; none where least > most.
struct VocabularyInterval {
  int64_t least = 0;
  int64_t most = -1;

  bool is_empty() const { return least > most; }
  bool contains(int64_t V) const { return least <= V && V <= most; }

  static void visit(auto& self, auto&& field) {
    field("least", self.least);
    field("most", self.most);
  }
  friend bool operator==(const VocabularyInterval&, const VocabularyInterval&) = default;
};

// The sizes, of source and target alike, with which the model's parameters are `printed` when
// rounded to the nearest million, as in the last column of Table 3 (printed: 65e6). The config is
// resolved; its own V does not matter.
VocabularyInterval vocabularies_printing(ModelConfig model, double printed);

// The sizes that lie in as many of the intervals as any one can.
VocabularyInterval most_common(const std::vector<VocabularyInterval>& intervals);

}  // namespace transformer
