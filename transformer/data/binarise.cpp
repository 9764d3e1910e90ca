#include "transformer/data/binarise.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <thread>

#include "transformer/data/lines.h"
#include "transformer/data/stopped.h"
#include "transformer/utf8.h"

namespace transformer {

namespace {

struct Pair {
  std::string source_line;
  std::string target_line;
  std::vector<int32_t> source;
  std::vector<int32_t> target;
  int64_t Cleaned::*verdict = &Cleaned::kept;
};

constexpr int64_t kPairsAtOnce = 8192;

int64_t Cleaned::*judge(const Pair& pair, const DataConfig& rules) {
  const auto [shorter, longer] = std::minmax({std::ssize(pair.source), std::ssize(pair.target)});
  constexpr int64_t kShort = 10;  // where a ratio says little
  if (shorter == 0) return &Cleaned::empty;
  if (longer > rules.max_length) return &Cleaned::over_long;
  const double most = rules.max_length_ratio * static_cast<double>(shorter);
  if (longer > kShort && static_cast<double>(longer) > most) return &Cleaned::ratio;
  return &Cleaned::kept;
}

void encode(Pair& pair, Cleaning cleaning, const DataConfig& rules, const Tokenizer& source,
            const Tokenizer& target) {
  const bool clean = cleaning == Cleaning::clean;
  pair.verdict = &Cleaned::kept;
  if (clean && (!is_utf8(pair.source_line) || !is_utf8(pair.target_line))) {
    pair.verdict = &Cleaned::invalid_utf8;
    return;
  }
  if (clean && (too_many_bytes(pair.source_line) || too_many_bytes(pair.target_line))) {
    pair.verdict = &Cleaned::over_long;
    return;
  }
  pair.source = source.encode(pair.source_line);
  pair.target = target.encode(pair.target_line);
  if (clean) pair.verdict = judge(pair, rules);
}

// Calls work(i) for each i below count, on all cores. The first exception in order of the threads
// is thrown on.
void on_all_cores(size_t count, const std::function<void(size_t)>& work) {
  constexpr size_t kFewest = 256;  // a thread is not worth less
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const size_t threads = std::clamp(count / kFewest, size_t{1}, cores);
  std::vector<std::exception_ptr> errors(threads);
  const auto run = [&](size_t t) {
    try {
      for (size_t i = count * t / threads; i < count * (t + 1) / threads; ++i) work(i);
    } catch (...) {
      errors[t] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (size_t t = 1; t < threads; ++t) others.emplace_back(run, t);
  run(0);
  for (auto& thread : others) thread.join();
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

// Where a pair stands.
struct Place {
  const std::filesystem::path& source_file;
  int64_t line;
};

// Hands on the pairs of the files in order, encoded and judged, until `take` wants no more.
void read_pairs(const std::vector<ParallelFiles>& files, Cleaning cleaning, const DataConfig& rules,
                const Tokenizer& source, const Tokenizer& target,
                const std::function<bool(const Pair&, const Place&)>& take) {
  std::vector<Pair> pairs(static_cast<size_t>(kPairsAtOnce));
  for (const auto& [source_file, target_file] : files) {
    LineReader source_lines(source_file);
    LineReader target_lines(target_file);
    while (true) {
      const int64_t before = source_lines.number();
      size_t count = 0;
      while (count < pairs.size() && source_lines.next(pairs[count].source_line) &&
             target_lines.next(pairs[count].target_line)) {
        if (cleaning == Cleaning::keep) {
          check_line(pairs[count].source_line, source_file, source_lines.number());
          check_line(pairs[count].target_line, target_file, target_lines.number());
        }
        ++count;
      }
      if (count == 0) break;
      on_all_cores(count, [&](size_t i) { encode(pairs[i], cleaning, rules, source, target); });
      for (size_t i = 0; i < count; ++i) {
        if (!take(pairs[i], {source_file, before + static_cast<int64_t>(i) + 1})) return;
      }
    }
  }
}

}  // namespace

Cleaned binarise(const std::vector<ParallelFiles>& files, Cleaning cleaning,
                 const DataConfig& rules, const Tokenizer& source, const Tokenizer& target,
                 const std::string& recipe, std::ostream& out, const std::atomic<bool>* stop) {
  CorpusWriter writer(out, source.size(), target.size());
  Cleaned cleaned;
  read_pairs(files, cleaning, rules, source, target, [&](const Pair& pair, const Place&) {
    heed(stop);
    ++(cleaned.*pair.verdict);
    if (pair.verdict == &Cleaned::kept) writer.add(pair.source, pair.target);
    return true;
  });
  writer.finish(cleaned, recipe);
  return cleaned;
}

std::string place_of_pair(int64_t pair, const std::vector<ParallelFiles>& files, Cleaning cleaning,
                          const DataConfig& rules, const Tokenizer& source,
                          const Tokenizer& target) {
  std::string place = "pair " + std::to_string(pair);
  int64_t kept = 0;
  read_pairs(files, cleaning, rules, source, target, [&](const Pair& read, const Place& at) {
    if (read.verdict != &Cleaned::kept || kept++ < pair) return true;
    place = at.source_file.string() + ": line " + std::to_string(at.line);
    return false;
  });
  return place;
}

}  // namespace transformer
