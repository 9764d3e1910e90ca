#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace transformer {

// BLEU (Papineni et al. 2002) of detokenised text against one reference, equal to sacreBLEU's with
// the signature nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp.
constexpr int kBleuOrder = 4;

// All that BLEU needs to know of a sentence. A corpus' statistics are the sum of its sentences', so
// that a test that draws sentences again need not count again.
struct BleuStatistics {
  std::array<int64_t, kBleuOrder> counts{};  // n-grams of the hypothesis found in the reference
  std::array<int64_t, kBleuOrder> totals{};  // n-grams of the hypothesis
  int64_t sys_len = 0;                       // tokens of the hypothesis
  int64_t ref_len = 0;                       // tokens of the reference

  BleuStatistics& operator+=(const BleuStatistics& other);
  friend bool operator==(const BleuStatistics&, const BleuStatistics&) = default;
};

BleuStatistics sentence_statistics(std::string_view hypothesis, std::string_view reference);

// One for each sentence. Throws UserError where the counts of lines differ.
std::vector<BleuStatistics> corpus_statistics(const std::vector<std::string>& hypotheses,
                                              const std::vector<std::string>& references);

struct BleuScore : BleuStatistics {
  double score = 0;                             // 0..100
  std::array<double, kBleuOrder> precisions{};  // 0..100, smoothed
  double bp = 1;                                // brevity penalty
};

BleuScore bleu_score(const BleuStatistics& statistics);

// Throws UserError where the counts of lines differ or there is no line.
BleuScore corpus_bleu(const std::vector<std::string>& hypotheses,
                      const std::vector<std::string>& references);

// With this program's name and version at its end.
std::string signature();

// "26.25 60.1/33.2/20.3/12.9 (BP = 0.990 ratio = 0.990 hyp_len = 62000 ref_len = 62600)", as
// sacreBLEU prints it with `--width 2`.
std::string to_string(const BleuScore& score);

}  // namespace transformer
