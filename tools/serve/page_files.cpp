#include "tools/serve/page_files.h"

#include <map>

#include "tools/vega.h"

// TRANSFORMER_SOURCE names the repository's folder. The assembler takes the files in as they are.
#define TRANSFORMER_PAGE_FILE(symbol, path)                  \
  asm(".pushsection .rodata\n"                               \
      "transformer_page_" #symbol                            \
      "_begin:\n"                                            \
      ".incbin \"" TRANSFORMER_SOURCE "/" path               \
      "\"\n"                                                 \
      "transformer_page_" #symbol                            \
      "_end:\n"                                              \
      ".popsection\n");                                      \
  extern "C" const char transformer_page_##symbol##_begin[]; \
  extern "C" const char transformer_page_##symbol##_end[];

#define TRANSFORMER_PAGE_BYTES(symbol)   \
  std::string_view(                      \
      transformer_page_##symbol##_begin, \
      static_cast<size_t>(transformer_page_##symbol##_end - transformer_page_##symbol##_begin))

TRANSFORMER_PAGE_FILE(index, "tools/serve/page/index.html")
TRANSFORMER_PAGE_FILE(login, "tools/serve/page/login.html")
TRANSFORMER_PAGE_FILE(style, "tools/serve/page/style.css")
TRANSFORMER_PAGE_FILE(icon, "tools/serve/page/icon.svg")
TRANSFORMER_PAGE_FILE(main, "tools/serve/page/main.js")
TRANSFORMER_PAGE_FILE(answers, "tools/serve/page/answers.js")
TRANSFORMER_PAGE_FILE(elements, "tools/serve/page/elements.js")
TRANSFORMER_PAGE_FILE(charts, "tools/serve/page/charts.js")
TRANSFORMER_PAGE_FILE(heatmap, "tools/serve/page/heatmap.js")
TRANSFORMER_PAGE_FILE(runs, "tools/serve/page/runs.js")
TRANSFORMER_PAGE_FILE(explore, "tools/serve/page/explore.js")
TRANSFORMER_PAGE_FILE(topics, "tools/serve/page/topics.js")
TRANSFORMER_PAGE_FILE(translate, "tools/serve/page/translate.js")
TRANSFORMER_PAGE_FILE(beam, "tools/serve/page/beam.js")
TRANSFORMER_PAGE_FILE(base, "configs/base.json")
TRANSFORMER_PAGE_FILE(table3, "configs/table3.json")

namespace transformer {

std::optional<PageFile> page_file(const std::string& name) {
  constexpr const char* kScript = "text/javascript; charset=utf-8";
  constexpr const char* kHtml = "text/html; charset=utf-8";
  constexpr const char* kJson = "application/json";
  static const std::map<std::string, PageFile> files = {
      {"index.html", {TRANSFORMER_PAGE_BYTES(index), kHtml}},
      {"login.html", {TRANSFORMER_PAGE_BYTES(login), kHtml}},
      {"style.css", {TRANSFORMER_PAGE_BYTES(style), "text/css; charset=utf-8"}},
      {"icon.svg", {TRANSFORMER_PAGE_BYTES(icon), "image/svg+xml"}},
      {"main.js", {TRANSFORMER_PAGE_BYTES(main), kScript}},
      {"answers.js", {TRANSFORMER_PAGE_BYTES(answers), kScript}},
      {"elements.js", {TRANSFORMER_PAGE_BYTES(elements), kScript}},
      {"charts.js", {TRANSFORMER_PAGE_BYTES(charts), kScript}},
      {"heatmap.js", {TRANSFORMER_PAGE_BYTES(heatmap), kScript}},
      {"runs.js", {TRANSFORMER_PAGE_BYTES(runs), kScript}},
      {"explore.js", {TRANSFORMER_PAGE_BYTES(explore), kScript}},
      {"topics.js", {TRANSFORMER_PAGE_BYTES(topics), kScript}},
      {"translate.js", {TRANSFORMER_PAGE_BYTES(translate), kScript}},
      {"beam.js", {TRANSFORMER_PAGE_BYTES(beam), kScript}},
      {"base.json", {TRANSFORMER_PAGE_BYTES(base), kJson}},
      {"table3.json", {TRANSFORMER_PAGE_BYTES(table3), kJson}},
      {"vega.js", {vega_scripts(), kScript}}};
  const auto found = files.find(name);
  if (found == files.end()) return std::nullopt;
  return found->second;
}

}  // namespace transformer
