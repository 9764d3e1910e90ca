#include "experiments/report.h"

#include <filesystem>
#include <fstream>
#include <iostream>

#include "experiments/significance.h"
#include "experiments/sweep_folder.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/vega.h"
#include "transformer/error.h"
#include "transformer/files.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

// An earlier report is written over, nothing else.
void refuse_what_is_no_report(const fs::path& page) {
  constexpr size_t kHead = 1000;
  if (!fs::exists(page)) return;
  std::ifstream in(page, std::ios::binary);
  std::string head(kHead, '\0');
  in.read(head.data(), kHead);
  if (head.find("content=\"transformer report\"") != std::string::npos) return;
  throw UserError(page.string() + ": exists, and is no report; name another file with --out");
}

}  // namespace

int report_command(int argc, char** argv) {
  cxxopts::Options options("transformer report");
  options.add_options()("o,out", "the page; DIR/report.html where none is named",
                        cxxopts::value<std::string>(), "FILE");
  const auto arguments = parse(
      options,
      {.name = "report",
       .summary = "Writes a sweep as one HTML page to look at and share, without network: the "
                  "results\ntable, learning curves and other charts, the runs and their "
                  "configs. The charts'\nVega-Lite specifications are written into a folder "
                  "beside it.",
       .usage = "DIR",
       .example = "transformer report runs/table3-mini",
       .fewest = 1,
       .most = 1},
      argc, argv);
  if (!arguments) return 0;
  const fs::path folder = arguments->positional[0];
  constexpr size_t kSamples = 12;
  Report report{.title = fs::weakly_canonical(folder).filename().string(),
                .summary = summarize(read_sweep_results(folder))};
  report.table.p_values = p_values_to_base(report.summary, details_in(folder));
  report.charts = charts_of(report.summary, folder);
  report.samples = translation_samples(report.summary, folder, kSamples);
  const auto& charts = report.charts;
  const fs::path page =
      arguments->has("out") ? fs::path(arguments->get<std::string>("out")) : folder / "report.html";
  refuse_what_is_no_report(page);
  write_file(page, report_page(report, vega_scripts()));
  fs::path specs = page;
  specs.replace_extension();
  specs += "-charts";
  if (!charts.empty()) make_folder(specs);
  for (const auto& chart : charts) {
    write_file(specs / (chart.id + ".vl.json"), text_of(chart.spec, 1) + "\n");
  }
  std::cout << page.string() << "\n";
  if (vega_scripts().empty()) {
    std::cerr << "transformer: built without npm: the page has the charts' figures in tables\n";
  }
  return 0;
}

}  // namespace transformer
