#include "tools/commands/bench_decode.h"

#include <torch/torch.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <limits>
#include <sstream>

#include "experiments/interrupts.h"
#include "experiments/machine.h"
#include "tools/commands/bench_work.h"
#include "tools/commands/model_options.h"
#include "tools/status_line.h"
#include "transformer/clock.h"
#include "transformer/data/tokenizer.h"
#include "transformer/decode/beam_search.h"
#include "transformer/decode/load.h"
#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/json.h"
#include "transformer/nn/init.h"
#include "transformer/nn/kernels/cpu_kernels.h"
#include "transformer/nn/kernels/panel_matrix.h"
#include "transformer/random.h"
#include "transformer/resident_memory.h"
#include "transformer/train/checkpoint.h"
#include "transformer/train/device.h"

namespace transformer {

namespace {

using Pieces = std::vector<int32_t>;

// Lengths as in news: 5 to 52 pieces, 28 on average.
std::vector<Pieces> made_sentences(int64_t count, int64_t V) {
  Random random(1);
  std::vector<Pieces> sentences(static_cast<size_t>(count));
  for (auto& sentence : sentences) {
    const auto length = 5 + random.below(20) + random.below(20) + random.below(10);
    for (uint64_t i = 0; i < length; ++i) {
      sentence.push_back(static_cast<int32_t>(4 + random.below(static_cast<uint64_t>(V) - 4)));
    }
    sentence.push_back(kEos);
  }
  return sentences;
}

// Seconds of the matrix products of one step of so many rows, and nothing else: one after the other
// with weights of their own, as a step has them, so that they come from memory as in a step. The
// fastest of some runs; by panels or by PyTorch, whichever is faster.
double step_products_seconds(const ModelConfig& model, int64_t rows, const torch::Device& device) {
  const c10::InferenceMode inference;
  std::vector<std::pair<int64_t, int64_t>> shapes;  // inner, columns
  for (int64_t layer = 0; layer < model.N; ++layer) {
    for (const auto& shape : {std::pair{model.d_model, model.h * model.d_k},
                              {model.d_model, model.kv_heads * model.d_k},
                              {model.d_model, model.kv_heads * model.d_v},
                              {model.h * model.d_v, model.d_model},
                              {model.d_model, model.h * model.d_k},
                              {model.h * model.d_v, model.d_model},
                              {model.d_model, model.inner_width()},
                              {model.inner_width(), model.d_model}}) {
      shapes.push_back(shape);
    }
    if (is_gated(model.feed_forward)) {
      shapes.emplace_back(model.d_model, model.inner_width());
    }
  }
  shapes.emplace_back(model.d_model, model.V);
  std::vector<torch::Tensor> inputs, weights;
  for (const auto& [inner, columns] : shapes) {
    inputs.push_back(torch::ones({rows, inner}, device));
    weights.push_back(torch::ones({columns, inner}, device));
  }
  const auto fastest = [&](const auto& multiply) {
    double best = std::numeric_limits<double>::max();
    const auto begin = Clock::now();
    for (int i = 0; i < 5 || (i < 50 && seconds_since(begin) < 1); ++i) {
      const auto start = Clock::now();
      for (size_t k = 0; k < shapes.size(); ++k) multiply(k);
      if (device.is_cuda()) torch::cuda::synchronize();
      best = std::min(best, seconds_since(start));
    }
    return best;
  };
  double best = fastest([&](size_t k) { return at::linear(inputs[k], weights[k]); });
  if (const auto* kernels = kernels_for(weights[0])) {
    std::vector<PanelMatrix> panels;
    for (const auto& weight : weights) panels.emplace_back(*kernels, weight);
    best = std::min(best, fastest([&](size_t k) { return panels[k].multiply(inputs[k]); }));
  }
  return best;
}

struct Setup {
  Config config;
  Transformer model;
  torch::Device device;
  std::vector<Pieces> sentences;  // the longest first
  std::optional<int64_t> pieces;  // of every translation
  bool as_source = false;         // else, as many as the batch's longest source has
};

struct TranslationMeasures {
  double seconds = 0;
  SearchProfile profile;
  int64_t target_tokens = 0;
  std::vector<Pieces> translations;
};

TranslationMeasures decode(Setup& setup, int64_t sentences_per_batch,
                           const std::atomic<bool>& stop) {
  auto decoding = setup.config.decoding;
  decoding.sentences_per_batch = sentences_per_batch;
  TranslationMeasures measured;
  const auto start = Clock::now();
  const auto size = static_cast<size_t>(sentences_per_batch);
  for (size_t first = 0; first < setup.sentences.size() && !stop; first += size) {
    const size_t last = std::min(first + size, setup.sentences.size());
    const std::vector<Pieces> batch(setup.sentences.begin() + static_cast<std::ptrdiff_t>(first),
                                    setup.sentences.begin() + static_cast<std::ptrdiff_t>(last));
    SearchOptions options{.stop = &stop, .pieces = setup.pieces, .profile = &measured.profile};
    if (setup.as_source) options.pieces = std::ssize(batch.front()) - 1;
    const auto found = beam_search(setup.model, batch, decoding, setup.device, options);
    for (const auto& each : found) {
      if (each.empty()) continue;
      measured.target_tokens += std::ssize(each.front().pieces) + 1;
      measured.translations.push_back(each.front().pieces);
    }
  }
  measured.seconds = seconds_since(start);
  return measured;
}

Json report(const Setup& setup, int64_t sentences_per_batch, const TranslationMeasures& measured) {
  const auto sentences = std::ssize(setup.sentences);
  int64_t source_tokens = 0;
  for (const auto& sentence : setup.sentences) source_tokens += std::ssize(sentence);
  const auto& profile = measured.profile;
  const auto per_second = [&](double count) { return count / measured.seconds; };
  const int64_t rows = std::min(sentences_per_batch, sentences) * setup.config.decoding.beam;
  const double limit = step_products_seconds(setup.config.model, rows, setup.device) *
                       static_cast<double>(profile.rows) / static_cast<double>(rows);
  return {{"sentences_per_batch", sentences_per_batch},
          {"sentences", sentences},
          {"seconds", measured.seconds},
          {"sentences_per_second", per_second(static_cast<double>(sentences))},
          {"source_tokens_per_second", per_second(static_cast<double>(source_tokens))},
          {"target_tokens_per_second", per_second(static_cast<double>(measured.target_tokens))},
          {"steps", profile.steps},
          {"milliseconds_per_step", 1e3 * measured.seconds / static_cast<double>(profile.steps)},
          {"flops", profile.flops},
          {"flops_per_second", per_second(profile.flops)},
          {"matrix_products_seconds", limit},
          {"utilisation", limit / (profile.decoder + profile.output + profile.search)},
          {"parts",
           {{"encoder", profile.encoder},
            {"decoder", profile.decoder},
            {"output", profile.output},
            {"search", profile.search}}}};
}

void print_translation(const Json& batch) {
  const auto number = [&](const char* key) { return batch[key].get<double>(); };
  char line[400];
  std::snprintf(line, sizeof line,
                "%5.0f sentences a batch: %8.2f sentences/s %8.1f source tokens/s %8.1f target "
                "tokens/s  %7.2f ms a step  %6.1f GFLOP/s  utilisation %.2f\n",
                number("sentences_per_batch"), number("sentences_per_second"),
                number("source_tokens_per_second"), number("target_tokens_per_second"),
                number("milliseconds_per_step"), number("flops_per_second") / 1e9,
                number("utilisation"));
  std::cout << line << "      ";
  const Json& parts = batch["parts"];
  for (const auto& [part, seconds] : parts.items()) {
    std::snprintf(line, sizeof line, "  %s %.0f %%", part.c_str(),
                  100 * seconds.get<double>() / number("seconds"));
    std::cout << line;
  }
  std::cout << "\n";
}

Setup set_up(const Arguments& arguments) {
  const auto device = device_of(arguments);
  const bool trained = arguments.has("checkpoint");
  if (trained == !arguments.positional.empty()) {
    throw UserError("bench decode: expected a CONFIG, or --checkpoint");
  }
  Model read;
  if (trained) {
    read = read_model(arguments.get<std::string>("checkpoint"));
    override_config(read.config, arguments.overrides);
    read.config = resolve(read.config, kCommandLine);
  } else {
    read.config = load_config(arguments.positional[0], arguments.overrides);
    if (!read.config.model.V.stated()) throw UserError("bench decode: expected model.V=N");
  }
  expect_translates(read.config.model, "bench decode");
  Transformer model =
      trained ? model_with(read.config.model, read.state, arguments.get<std::string>("checkpoint"))
              : Transformer(read.config.model);
  if (!trained) initialise(*model, read.config.training.seed);
  if (arguments.has("save")) {
    write_model(arguments.get<std::string>("save"),
                {read.config, read.vocabulary, state_of(*model)});
  }
  model->to(device);
  model->eval();
  const int64_t V = read.config.model.source_V;
  Setup setup{std::move(read.config), std::move(model), device, {}, {}, false};
  setup.as_source = !trained || arguments.has("pieces-as-source");
  setup.sentences = arguments.has("sentences")
                        ? read_sentences(arguments.get<std::string>("sentences"), V)
                        : made_sentences(arguments.integer("count", 1, 1'000'000), V);
  std::ranges::stable_sort(setup.sentences, std::greater{}, &Pieces::size);
  if (arguments.has("pieces")) {
    setup.pieces = arguments.integer("pieces", 0, 1'000'000);
    setup.as_source = false;
  }
  return setup;
}

void check_outputs(const Arguments& arguments) {
  OutputRules rules{.force = arguments.has("force")};
  for (const char* input : {"checkpoint", "sentences"}) {
    if (arguments.has(input)) rules.inputs.emplace_back(arguments.get<std::string>(input));
  }
  for (const auto& [output, content] :
       {std::pair{"save", Content::binary}, {"hypotheses", Content::text}}) {
    rules.content = content;
    if (arguments.has(output)) check_output(arguments.get<std::string>(output), rules);
  }
}

void write_pieces(const std::string& path, const std::vector<Pieces>& sentences) {
  std::string text;
  for (const auto& sentence : sentences) {
    for (size_t i = 0; i < sentence.size(); ++i) {
      text += (i > 0 ? " " : "") + std::to_string(sentence[i]);
    }
    text += "\n";
  }
  write_file(path, text);
}

}  // namespace

int bench_decode_command(int argc, char** argv) {
  cxxopts::Options options("transformer bench decode");
  options.add_options()("checkpoint", "a trained model, instead of random weights from CONFIG",
                        cxxopts::value<std::string>())(
      "sentences", "a file of word-pieces' numbers, a sentence a line; else sentences are made up",
      cxxopts::value<std::string>())("count", "how many are made up",
                                     cxxopts::value<std::string>()->default_value("64"))(
      "batch", "sentences a batch, several with commas between",
      cxxopts::value<std::string>()->default_value("32,1"))(
      "pieces",
      "every translation has exactly so many word-pieces; else it ends where the model ends it",
      cxxopts::value<std::string>())(
      "pieces-as-source",
      "every translation has as many as its batch's longest source; so it is with random weights "
      "unless --pieces is given")("repeat", "the fastest of so many runs counts",
                                  cxxopts::value<std::string>()->default_value("1"))(
      "hypotheses",
      "write the best translations' word-pieces, in the order of falling length of "
      "the source",
      cxxopts::value<std::string>())("save", "write the model to this file",
                                     cxxopts::value<std::string>())(
      "force", "write over files that exist")("json", "figures as JSON");
  add_device_options(options);
  const auto arguments = parse(
      options,
      {.name = "bench decode",
       .summary = "Speed of beam search. Utilisation: the time of a step's matrix products, each "
                  "measured alone in this run, over the time the steps took.",
       .usage = "[CONFIG] [key=value...]",
       .example = "transformer bench decode configs/base.json model.V=37000 --batch 32,1",
       .most = 1,
       .with_overrides = true},
      argc, argv);
  if (!arguments) return 0;
  std::vector<int64_t> sizes;
  std::istringstream words(arguments->get<std::string>("batch"));
  for (std::string word; std::getline(words, word, ',');) {
    int64_t size = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), size);
    if (error != std::errc() || end != word.data() + word.size() || size < 1 || size > 1'000'000) {
      throw UserError("--batch: \"" + word + "\" is not in 1..1000000");
    }
    sizes.push_back(size);
  }
  const auto repeats = arguments->integer("repeat", 1, 1'000'000);
  check_outputs(*arguments);
  auto setup = set_up(*arguments);

  const Interrupts interrupts(Interrupts::Second::ends_the_process);
  const auto& stop = interrupts.asked();
  StatusLine status;
  Json batches = Json::array();
  for (const int64_t size : sizes) {
    status.update("decoding " + std::to_string(size) + " sentences a batch");
    // Weights are laid out and memory is touched before anything is timed.
    auto warm = setup;
    warm.sentences.resize(std::min<size_t>(warm.sentences.size(), 1));
    decode(warm, size, stop);
    TranslationMeasures fastest = decode(setup, size, stop);
    for (int64_t i = 1; i < repeats && !stop; ++i) {
      auto again = decode(setup, size, stop);
      if (again.seconds < fastest.seconds) fastest = std::move(again);
    }
    if (stop) return interrupts.exit_code();
    batches.push_back(report(setup, size, fastest));
    if (!arguments->has("json")) print_translation(batches.back());
    if (arguments->has("hypotheses")) {
      write_pieces(arguments->get<std::string>("hypotheses"), fastest.translations);
    }
  }
  if (arguments->has("json")) {
    std::cout << text_of(
                     {{"threads", torch::get_num_threads()},
                      {"kernels", chosen_kernels() == nullptr ? "PyTorch" : chosen_kernels()->name},
                      {"beam", setup.config.decoding.beam},
                      {"batches", batches},
                      {"peak_memory_bytes", peak_resident_bytes()}},
                     2)
              << "\n";
  } else {
    std::cout << "peak memory " << grouped(peak_resident_bytes() >> 20) << " MiB, "
              << torch::get_num_threads() << " threads\n";
  }
  return 0;
}

}  // namespace transformer
