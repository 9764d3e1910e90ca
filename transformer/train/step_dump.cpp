#include "transformer/train/step_dump.h"

#include <torch/torch.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "transformer/data/tokenizer.h"
#include "transformer/error.h"
#include "transformer/json.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kModelPrefix = "model.";
constexpr const char* kRank = "rank";
constexpr const char* kStepTokens = "target_tokens_of_step";  // that are predicted

std::string batch_prefix(size_t i) { return "batch." + std::to_string(i) + "."; }

template <class T>
torch::Tensor to_tensor(std::vector<T> values, std::vector<int64_t> shape) {
  constexpr auto kType = std::is_same_v<T, int32_t> ? torch::kInt32 : torch::kInt64;
  return torch::from_blob(values.data(), shape, kType).clone();
}

template <class T>
std::vector<T> to_vector(const torch::Tensor& tensor) {
  const T* data = tensor.const_data_ptr<T>();
  return {data, data + tensor.numel()};
}

// How many pieces each row has before its padding; 0 for one that is padded elsewhere than at the
// right.
std::vector<int64_t> row_lengths(const std::vector<int32_t>& pieces, int64_t sentences) {
  const int64_t width = std::ssize(pieces) / sentences;
  std::vector<int64_t> lengths;
  for (auto row = pieces.begin(); row != pieces.end(); row += width) {
    const auto end = std::find(row, row + width, kPad);
    const bool at_right = std::all_of(end, row + width, [](int32_t id) { return id == kPad; });
    lengths.push_back(at_right ? end - row : 0);
  }
  return lengths;
}

class DumpReader {
 public:
  explicit DumpReader(const fs::path& file) : file_(file.string()), content_(read_state(file)) {}

  StepDump read() {
    const std::string where = file_ + ": config";
    StepDump dump;
    dump.config = resolve(from_json<Config>(parse_json(metadata("config"), where), where), where);
    if (!dump.config.model.V.stated()) refuse("its config does not state model.V");
    dump.vocabulary = metadata("vocabulary");
    dump.step = number("step");
    dump.threads = number("threads");
    dump.finding = metadata("finding");
    if (content_.metadata.contains(kRank)) {
      dump.share = {.rank = number(kRank), .predicted = number(kStepTokens)};
    }
    for (const auto& [name, tensor] : content_.state) {
      if (name.starts_with(kModelPrefix)) dump.model[name.substr(kModelPrefix.size())] = tensor;
    }
    const auto& model = dump.config.model;
    for (size_t i = 0; content_.state.contains(batch_prefix(i) + "source"); ++i) {
      dump.batches.push_back(batch(batch_prefix(i), model));
    }
    if (dump.batches.empty()) refuse("it has no batch");
    return dump;
  }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw UserError(file_ + ": expected the dump of a step; " + problem);
  }

  std::string metadata(const std::string& key) const {
    const auto found = content_.metadata.find(key);
    if (found == content_.metadata.end()) refuse("it has no " + key);
    return found->second;
  }

  int64_t number(const std::string& key) const {
    const std::string text = metadata(key);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0) {
      refuse(key + " is not a count");
    }
    return value;
  }

  torch::Tensor tensor(const std::string& name, torch::ScalarType type, int64_t dimensions) const {
    const auto found = content_.state.find(name);
    if (found == content_.state.end() || found->second.scalar_type() != type ||
        found->second.dim() != dimensions || found->second.numel() == 0) {
      refuse(name + " is missing, or not what a batch has");
    }
    return found->second;
  }

  std::vector<int32_t> pieces(const std::string& name, int64_t V) const {
    auto ids = to_vector<int32_t>(tensor(name, torch::kInt32, 2));
    if (std::ranges::any_of(ids, [&](int32_t id) { return id < 0 || id >= V; })) {
      refuse(name + " has word-pieces that the vocabulary has not");
    }
    return ids;
  }

  Batch batch(const std::string& prefix, const ModelConfig& model) const {
    Batch batch;
    batch.source = pieces(prefix + "source", model.source_V);
    batch.target_input = pieces(prefix + "target_input", model.V);
    batch.target_output = pieces(prefix + "target_output", model.V);
    batch.rows = to_vector<int64_t>(tensor(prefix + "rows", torch::kInt64, 1));
    batch.sentences = std::ssize(batch.rows);
    batch.source_length = content_.state.at(prefix + "source").size(1);
    batch.target_length = content_.state.at(prefix + "target_output").size(1);
    for (const char* name : {"source", "target_input", "target_output"}) {
      if (content_.state.at(prefix + name).size(0) != batch.sentences) {
        refuse(prefix + name + " has another number of sentences than " + prefix + "rows");
      }
    }
    if (content_.state.at(prefix + "target_input").size(1) != batch.target_length) {
      refuse(prefix + "target_input is not as long as " + prefix + "target_output");
    }
    const auto source_lengths = row_lengths(batch.source, batch.sentences);
    const auto target_lengths = row_lengths(batch.target_output, batch.sentences);
    if (std::ranges::count(source_lengths, 0) + std::ranges::count(target_lengths, 0) > 0 ||
        row_lengths(batch.target_input, batch.sentences) != target_lengths) {
      refuse(prefix + "*: sentences without word-pieces, or padded elsewhere than at their ends");
    }
    batch.source_tokens = std::accumulate(source_lengths.begin(), source_lengths.end(), int64_t{0});
    batch.target_tokens = std::accumulate(target_lengths.begin(), target_lengths.end(), int64_t{0});
    for (const int64_t length : target_lengths) batch.chosen_tokens += chosen_pieces(length - 1);
    return batch;
  }

  std::string file_;
  StateFile content_;
};

}  // namespace

void write_dump(const fs::path& file, const StepDump& dump) {
  State state;
  for (const auto& [name, tensor] : dump.model) state[std::string(kModelPrefix) + name] = tensor;
  for (size_t i = 0; i < dump.batches.size(); ++i) {
    const Batch& batch = dump.batches[i];
    const std::string prefix = batch_prefix(i);
    state[prefix + "source"] = to_tensor(batch.source, {batch.sentences, batch.source_length});
    state[prefix + "target_input"] =
        to_tensor(batch.target_input, {batch.sentences, batch.target_length});
    state[prefix + "target_output"] =
        to_tensor(batch.target_output, {batch.sentences, batch.target_length});
    state[prefix + "rows"] = to_tensor(batch.rows, {batch.sentences});
  }
  std::map<std::string, std::string> metadata = {{"config", text_of(to_json(dump.config))},
                                                 {"vocabulary", dump.vocabulary},
                                                 {"step", std::to_string(dump.step)},
                                                 {"threads", std::to_string(dump.threads)},
                                                 {"finding", dump.finding}};
  if (dump.share.predicted > 0) {
    metadata[kRank] = std::to_string(dump.share.rank);
    metadata[kStepTokens] = std::to_string(dump.share.predicted);
  }
  write_state(file, state, metadata);
}

StepDump read_dump(const fs::path& file) { return DumpReader(file).read(); }

}  // namespace transformer
