#include "experiments/report.h"

#include <filesystem>
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

// Vega-Lite specifications in a folder beside the page, which is REPORT.html: REPORT-charts.
void write_specifications(const std::vector<Chart>& charts, const fs::path& page) {
  if (charts.empty()) return;
  fs::path folder = page;
  folder.replace_extension();
  folder += "-charts";
  make_folder(folder);
  for (const auto& chart : charts) {
    write_file(folder / (chart.id + ".vl.json"), text_of(chart.spec, 1) + "\n");
  }
}

}  // namespace

int report_command(int argc, char** argv) {
  cxxopts::Options options("transformer report");
  options.add_options()("o,out", "the page; DIR/report.html where none is named",
                        cxxopts::value<std::string>(),
                        "FILE")("force", "write over a file that is no report of this sweep");
  const auto arguments = parse(
      options,
      {.name = "report",
       .summary = "Writes a sweep as one HTML page to look at and share, without network: the "
                  "results\ntable, learning curves and other charts, the runs and their "
                  "configs. The charts'\nVega-Lite specifications are written into a folder "
                  "beside it. An earlier report of\nthe same sweep is made anew.",
       .usage = "DIR",
       .example = "transformer report runs/table3-mini",
       .fewest = 1,
       .most = 1},
      argc, argv);
  if (!arguments) return 0;
  const fs::path folder = arguments->positional[0];
  const std::string title = fs::weakly_canonical(folder).filename().string();
  const fs::path page =
      arguments->has("out") ? fs::path(arguments->get<std::string>("out")) : folder / "report.html";
  Report report{.title = title, .summary = summarize(read_sweep_results(folder))};
  check_output(page, {.force = arguments->has("force") || is_report_of(page, title),
                      .warning = "it is no report of a sweep " + title +
                                 "; name another file with --out, or --force writes over it"});
  constexpr size_t kSamples = 12;
  report.table.p_values = p_values_to_base(report.summary, details_in(folder));
  report.charts = charts_of(report.summary, folder);
  report.samples = translation_samples(report.summary, folder, kSamples);
  write_file(page, report_page(report, vega_scripts()));
  if (is_place_of_file(page)) {
    write_specifications(report.charts, page);
    std::cout << page.string() << "\n";
  } else if (!report.charts.empty()) {
    std::cerr << "transformer: the charts' specifications are written beside a file alone\n";
  }
  if (vega_scripts().empty()) {
    std::cerr << "transformer: built without npm: the page has the charts' figures in tables\n";
  }
  return 0;
}

}  // namespace transformer
