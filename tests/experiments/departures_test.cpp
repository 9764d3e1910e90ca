#include "experiments/departures.h"

#include "experiments/sweep.h"
#include "experiments/table.h"
#include "experiments/table3_rows.h"
#include "tests/catch.h"

using Catch::Matchers::Contains;
using namespace transformer;

namespace {

std::vector<RowRecord> rows_of_file(const std::string& file,
                                    const std::vector<std::string>& overrides = {}) {
  std::vector<RowRecord> rows;
  for (const auto& row : load_sweep(TRANSFORMER_SOURCE "/configs/" + file, overrides).rows) {
    rows.push_back({row.id, row.group, row.set, row.paper, to_json(row.config)});
  }
  return rows;
}

std::string shown(const std::vector<Departure>& departures) { return to_json(departures).dump(); }

}  // namespace

TEST_CASE("departures: configs/table3.json is the paper's Table 3, every row") {
  const auto rows = rows_of_file("table3.json");
  REQUIRE(rows.size() == 20);
  for (const auto& row : rows) {
    INFO(row.id << shown(departures_from_paper(row)));
    REQUIRE(paper_row(row.id, row.group));
    REQUIRE(departures_from_paper(row).empty());
    REQUIRE(departures_beside_scale(row, rows[0]).empty());
  }
  REQUIRE(departure_notes(rows).empty());
}

TEST_CASE("departures: Table 3 in miniature departs in scale alone, and base says in which") {
  for (const char* file : {"table3-mini.json", "table3-small.json"}) {
    const auto rows = rows_of_file(file);
    for (const auto& row : rows) {
      INFO(file << " " << row.id << shown(departures_beside_scale(row, rows[0])));
      REQUIRE(departures_beside_scale(row, rows[0]).empty());
    }
    REQUIRE(departure_notes(rows).size() == 1);
    REQUIRE_THAT(departure_notes(rows)[0],
                 Contains("Not the paper's row base: N 3 (paper: 6), d_model ") &&
                     Contains("warmup_steps ") && !Contains("P_drop"));
  }
}

TEST_CASE("departures: dropout that is not all off, d_v shrunk with d_k, another norm placement") {
  auto rows = rows_of_file("table3.json", {"model.attention_drop=0.1"});
  const auto note_of = [&](const std::string& id) -> std::string {
    for (const auto& note : departure_notes(rows)) {
      if (note.starts_with("Not the paper's row " + id + ":")) return note;
    }
    return "";
  };
  const auto row = [&](const std::string& id) -> RowRecord& {
    for (auto& each : rows) {
      if (each.id == id) return each;
    }
    throw std::logic_error(id);
  };
  REQUIRE(note_of("base") == "Not the paper's row base: attention_drop 0.1 (paper: 0.0).");
  REQUIRE(departures_from_paper(row("D-drop0")).size() == 1);
  REQUIRE(departures_from_paper(row("D-drop0"))[0].key == "model.attention_drop");

  row("B-k16").config["model"]["d_v"] = 16;
  REQUIRE(note_of("B-k16") == "Not the paper's row B-k16: d_v 16 (by the paper: 64).");
  row("C-N2").config["model"]["norm_placement"] = "pre";
  REQUIRE(note_of("C-N2") ==
          "Not the paper's row C-N2: norm_placement \"pre\" (by the paper: \"post\").");
  row("C-N4").config["model"]["N"] = 6;  // nothing changed
  REQUIRE(note_of("C-N4") == "Not the paper's row C-N4: N 6 (by the paper: 4).");
  row("C-N8").id = "ours";
  REQUIRE(departures_from_paper(row("ours")).empty());
  row("E").config = Json{{"model", {{"of_another_version", 1}}}};
  REQUIRE(departures_from_paper(row("E")).empty());

  const std::string text = to_text(results_table(summarize({{}, {row("base")}, {}})));
  REQUIRE_THAT(text, Contains("\nNot the paper's row base: attention_drop 0.1 (paper: 0.0).\n"));
}

TEST_CASE("departures: accumulated batches count as one") {
  const auto rows =
      rows_of_file("table3.json", {"training.accumulate=5", "data.tokens_per_batch=5000"});
  REQUIRE(departure_notes(rows).empty());
}
