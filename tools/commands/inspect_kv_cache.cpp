#include <iostream>

#include "tools/commands/inspect_arguments.h"
#include "tools/commands/inspect_topics.h"
#include "tools/status_line.h"
#include "tools/text_table.h"
#include "transformer/analysis/decoding_cache.h"

namespace transformer {

namespace {

constexpr int64_t kLongest = 1'000'000'000;

std::string bytes(double count) {
  constexpr double kMi = 1 << 20;
  return count < kMi ? formatted("%.1f KiB", count / 1024) : formatted("%.1f MiB", count / kMi);
}

void add_kv_cache_options(cxxopts::Options& options) {
  options.add_options()("bits", "of a number: 8, 16, 32",
                        cxxopts::value<std::string>()->default_value("16"))(
      "length", "word-pieces of the source and of the translation",
      cxxopts::value<std::string>()->default_value("1024"));
}

int64_t bits_of(const Arguments& arguments) { return arguments.integer("bits", 1, 64); }
int64_t cached_length(const Arguments& arguments) {
  return arguments.integer("length", 1, kLongest);
}

Json kv_cache_figures(const Arguments& arguments, const std::vector<SweepRow>& rows) {
  const int64_t bits = bits_of(arguments);
  const int64_t length = cached_length(arguments);
  Json list = Json::array();
  for (const auto& row : rows) {
    const auto& model = row.config.model;
    const double each = cached_bytes(model, bits);
    const double all = each * static_cast<double>(length);
    list.push_back({{"id", row.id},
                    {"N", model.N},
                    {"kv_heads", int64_t{model.kv_heads}},
                    {"d_k", int64_t{model.d_k}},
                    {"d_v", int64_t{model.d_v}},
                    {"bytes_a_token", each},
                    {"self_attention_bytes", all},
                    {"cross_attention_bytes", reads_source(model.family) ? all : 0}});
  }
  return {{"bits", bits},
          {"length", length},
          {"projections_saved", projections_saved(length)},
          {"rows", list}};
}

void print_kv_cache(const Arguments& arguments, const std::vector<SweepRow>& rows) {
  const int64_t bits = bits_of(arguments);
  const int64_t length = cached_length(arguments);
  std::vector<std::vector<std::string>> lines = {
      {"row", "N", "kv_heads", "d_k", "d_v", "bytes a token", "self", "with source"}};
  for (const auto& row : rows) {
    const auto& model = row.config.model;
    const double each = cached_bytes(model, bits);
    const double all = each * static_cast<double>(length);
    lines.push_back({row.id, grouped(model.N), grouped(model.kv_heads), grouped(model.d_k),
                     grouped(model.d_v), grouped(static_cast<int64_t>(each)), bytes(all),
                     reads_source(model.family) ? bytes(2 * all) : ""});
  }
  print_cells(std::cout, lines, 1);
  std::cout << "\nOne translation of " << grouped(length) << " word-pieces, numbers of " << bits
            << " bits; \"self\" is the decoder's self-attention, \"with source\" adds its\n"
               "cross-attention to a source as long, where there is one. Without the cache keys "
               "and values are "
               "projected "
            << formatted("%.1f", projections_saved(length)) << " times as often.\n";
}

}  // namespace

const InspectTopic& kv_cache_topic() {
  static const InspectTopic topic = {
      .line = {.name = "inspect kv-cache",
               .summary =
                   "Bytes that decoding keeps a word-piece: keys and values of every decoder "
                   "layer, N · kv_heads · (d_k + d_v)\nnumbers of what is written, and as "
                   "many of the source; and how many projections that saves.",
               .usage = "CONFIG [key=value...]",
               .example = "transformer inspect kv-cache configs/base.json model.kv_heads=8,2,1",
               .fewest = 1,
               .most = 1,
               .with_overrides = true},
      .add_options = add_kv_cache_options,
      .figures = kv_cache_figures,
      .print = print_kv_cache};
  return topic;
}

}  // namespace transformer
