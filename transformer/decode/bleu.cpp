#include "transformer/decode/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unordered_map>

#include "transformer/decode/tokenizer_13a.h"
#include "transformer/error.h"
#include "transformer/version.h"

namespace transformer {

namespace {

// A sentence's tokens, and its n-grams as pieces of the text they stand in.
class Sentence {
 public:
  explicit Sentence(std::string_view line) : text_(tokenize_13a(strip_right(line))) {
    for (size_t start = 0; start < text_.size();) {
      const size_t end = std::min(text_.find(' ', start), text_.size());
      starts_.push_back(start);
      ends_.push_back(end);
      start = end + 1;
    }
  }

  int64_t length() const { return static_cast<int64_t>(starts_.size()); }

  std::unordered_map<std::string_view, int64_t> ngrams(size_t n) const {
    std::unordered_map<std::string_view, int64_t> counts;
    for (size_t i = 0; i + n <= starts_.size(); ++i) {
      ++counts[std::string_view(text_).substr(starts_[i], ends_[i + n - 1] - starts_[i])];
    }
    return counts;
  }

 private:
  std::string text_;
  std::vector<size_t> starts_, ends_;
};

}  // namespace

BleuStatistics& BleuStatistics::operator+=(const BleuStatistics& other) {
  for (int n = 0; n < kBleuOrder; ++n) {
    counts[n] += other.counts[n];
    totals[n] += other.totals[n];
  }
  sys_len += other.sys_len;
  ref_len += other.ref_len;
  return *this;
}

BleuStatistics sentence_statistics(std::string_view hypothesis, std::string_view reference) {
  const Sentence ours(hypothesis);
  const Sentence theirs(reference);
  BleuStatistics statistics;
  statistics.sys_len = ours.length();
  statistics.ref_len = theirs.length();
  for (int n = 0; n < kBleuOrder; ++n) {
    const auto allowed = theirs.ngrams(n + 1);
    for (const auto& [ngram, count] : ours.ngrams(n + 1)) {
      statistics.totals[n] += count;
      const auto found = allowed.find(ngram);
      if (found != allowed.end()) statistics.counts[n] += std::min(count, found->second);
    }
  }
  return statistics;
}

std::vector<BleuStatistics> corpus_statistics(const std::vector<std::string>& hypotheses,
                                              const std::vector<std::string>& references) {
  if (hypotheses.size() != references.size()) {
    throw UserError("BLEU: expected a hypothesis for each of " + std::to_string(references.size()) +
                    " reference lines; got " + std::to_string(hypotheses.size()));
  }
  std::vector<BleuStatistics> statistics(hypotheses.size());
  for (size_t i = 0; i < statistics.size(); ++i) {
    statistics[i] = sentence_statistics(hypotheses[i], references[i]);
  }
  return statistics;
}

BleuScore bleu_score(const BleuStatistics& statistics) {
  BleuScore bleu{statistics};
  const auto sys_len = static_cast<double>(bleu.sys_len);
  const auto ref_len = static_cast<double>(bleu.ref_len);
  if (sys_len < ref_len) bleu.bp = sys_len > 0 ? std::exp(1 - ref_len / sys_len) : 0;
  if (std::ranges::all_of(bleu.counts, [](int64_t count) { return count == 0; })) return bleu;

  // Smoothing "exp", NIST's: the first order without a match counts 1/2 of one, the next 1/4, and
  // so on.
  double smoothing = 1;
  double sum_of_logs = 0;
  for (int n = 0; n < kBleuOrder; ++n) {
    const auto total = static_cast<double>(bleu.totals[n]);
    if (bleu.totals[n] == 0) return bleu;  // no n-gram so long in the whole corpus: the score is 0
    if (bleu.counts[n] == 0) smoothing *= 2;
    bleu.precisions[n] = bleu.counts[n] == 0 ? 100 / (smoothing * total)
                                             : 100 * static_cast<double>(bleu.counts[n]) / total;
    sum_of_logs += std::log(bleu.precisions[n]);
  }
  bleu.score = bleu.bp * std::exp(sum_of_logs / kBleuOrder);
  return bleu;
}

BleuScore corpus_bleu(const std::vector<std::string>& hypotheses,
                      const std::vector<std::string>& references) {
  BleuStatistics sum;
  for (const auto& sentence : corpus_statistics(hypotheses, references)) sum += sentence;
  if (hypotheses.empty()) throw UserError("BLEU: expected a line or more; got none");
  return bleu_score(sum);
}

std::string signature() {
  return std::string("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:transformer-") +
         kVersion;
}

std::string to_string(const BleuScore& score) {
  const double ratio =
      score.ref_len == 0 ? 0
                         : static_cast<double>(score.sys_len) / static_cast<double>(score.ref_len);
  const auto& p = score.precisions;
  char text[200];
  std::snprintf(text, sizeof text,
                "%.2f %.1f/%.1f/%.1f/%.1f (BP = %.3f ratio = %.3f hyp_len = %lld ref_len = %lld)",
                score.score, p[0], p[1], p[2], p[3], score.bp, ratio,
                static_cast<long long>(score.sys_len), static_cast<long long>(score.ref_len));
  return text;
}

}  // namespace transformer
