#include "transformer/decode/translate.h"

#include <algorithm>

namespace transformer {

std::vector<Translation> translate(Translator& translator, const std::vector<std::string>& lines,
                                   const std::function<void(size_t)>& on_done) {
  std::vector<Translation> translations(lines.size());
  std::vector<std::vector<int32_t>> sources(lines.size());
  std::vector<size_t> order;
  for (size_t i = 0; i < lines.size(); ++i) {
    sources[i] = translator.source.encode(lines[i]);
    if (sources[i].empty()) continue;
    sources[i].push_back(kEos);
    order.push_back(i);
  }
  std::ranges::stable_sort(order, std::greater{}, [&](size_t i) { return sources[i].size(); });
  const auto batch_size = static_cast<size_t>(translator.decoding.sentences_per_batch);
  for (size_t start = 0; start < order.size(); start += batch_size) {
    const size_t end = std::min(order.size(), start + batch_size);
    std::vector<std::vector<int32_t>> batch;
    for (size_t k = start; k < end; ++k) batch.push_back(sources[order[k]]);
    const auto found = beam_search(translator.model, batch, translator.decoding, translator.device);
    for (size_t k = start; k < end; ++k) {
      const Hypothesis& best = found[k - start].front();
      translations[order[k]] = {translator.target.decode(best.pieces), best.log_probability,
                                best.score};
    }
    if (on_done) on_done(end + lines.size() - order.size());
  }
  return translations;
}

}  // namespace transformer
