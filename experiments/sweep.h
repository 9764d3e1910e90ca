#pragma once

// A sweep is data: a base experiment, and rows that say only what they change.
//
//   {"base": "base.json",                     an experiment, relative to this file's folder
//    "set": {"training.average_last": 1},     for every row
//    "rows": [{"id": "B-k16", "group": "B", "set": {"model.d_k": 16},
//              "paper": {"perplexity": 5.16, "bleu": 25.1, "parameters": 58e6}}],
//    "grid": {"model.h": [1, 2]},             the product of its lists; with rows, of every row
//    "seeds": [1, 2, 3]}                      the base's training.seed unless stated

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/record.h"
#include "transformer/config.h"

namespace transformer {

struct SweepRow {
  std::string id;
  std::string group;
  Json set = Json::object();  // what it changes, by dotted key
  PaperFigures paper;
  Config config;  // resolved; a run changes training.seed alone
};

struct Sweep {
  Config base;  // with what is set for every row; not resolved
  std::vector<SweepRow> rows;
  std::vector<int64_t> seeds;
};

// Reads a sweep file, or an experiment with comma lists among the overrides: model.h=1,2
// model.N=2,4. Later beats earlier: base, "set", a row's "set", "grid", overrides. Every row's
// config is resolved and checked. Ids are unique and fit to be folder names. Throws UserError:
// `FILE: row ID: KEY: ...`, with "command line" for FILE where the file by itself is sound.
Sweep load_sweep(const std::filesystem::path& file, const std::vector<std::string>& overrides = {});

// The same of what has been read already: `content` is a sweep file's, with `base` for the
// experiment that it names, or {} for `base` alone. `name` stands for the file's: a single row is
// called by it. `where` stands before what is wrong of the overrides.
Sweep sweep_of(const Json& content, const Config& base, const std::filesystem::path& name,
               const std::vector<std::string>& overrides, const std::string& where);

// Leaves the rows with these ids, in the sweep's order. Throws UserError on one that is not there
// or given twice.
void select_rows(Sweep& sweep, const std::vector<std::string>& ids);

// Throws UserError unless there are some, all positive and different.
void check_seeds(const std::vector<int64_t>& seeds, const std::string& where);

// What is kept of a sweep in its folder, and back. Throws UserError.
Json to_json(const Sweep& sweep);
Sweep sweep_from_json(const Json& json, const std::string& where);

}  // namespace transformer
