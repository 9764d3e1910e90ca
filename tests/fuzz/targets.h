#pragma once

// Readers of files that may come from a stranger, each as a function of the file's bytes. A fuzzer
// calls them (fuzzer.cpp), and every test run with the seeds that are kept (replay_test.cpp). One
// may refuse what it reads, by UserError or Failure; whatever else comes of it is a finding:
// another exception, a sanitizer's report, more than a second or than memory for a few times the
// input.

#include <filesystem>
#include <string>
#include <vector>

#include "transformer/error.h"
#include "transformer/json.h"

namespace transformer::fuzz {

void config(const std::string& bytes);       // an experiment's file
void overrides(const std::string& bytes);    // a word of the command line each line
void sweep(const std::string& bytes);        // a sweep file over a base that is sound
void result(const std::string& bytes);       // result.json
void results(const std::string& bytes);      // results.json, and the tables made of it
void metrics(const std::string& bytes);      // metrics.jsonl, and the curves drawn of it
void corpus(const std::string& bytes);       // a binarised corpus
void text(const std::string& bytes);         // one side of a corpus
void vocabulary(const std::string& bytes);   // word-pieces, as SentencePiece keeps them
void bench(const std::string& bytes);        // lengths and word-pieces to measure with
void run(const std::string& bytes);          // divergence.json or valid.checksums, to be sealed
void rendezvous(const std::string& bytes);   // variables of torchrun and srun, one a line
void safetensors(const std::string& bytes);  // weights: as a model and as the dump of a step too
void progress(const std::string& bytes);     // progress.json of a checkpoint, to be sealed

struct Target {
  const char* name;  // of its folder of seeds, too
  void (*read)(const std::string& bytes);
};
constexpr Target kTargets[] = {{"config", config},
                               {"overrides", overrides},
                               {"sweep", sweep},
                               {"result", result},
                               {"results", results},
                               {"metrics", metrics},
                               {"corpus", corpus},
                               {"text", text},
                               {"vocabulary", vocabulary},
                               {"bench", bench},
                               {"run", run},
                               {"rendezvous", rendezvous},
                               {"safetensors", safetensors},
                               {"progress", progress}};

// Whether the reader took the bytes. Lets everything through that is no refusal.
bool accepts(const Target& target, const std::string& bytes);

// A file of this name with these bytes, in a folder that ends with the process.
std::filesystem::path file_with(const std::string& name, const std::string& bytes);

// The lines as words of a command line or an environment: the system ends each at a NUL.
std::vector<std::string> words_of(const std::string& bytes);

// Throws UserError where it is none.
Json object_in(const std::string& bytes);

// Calls a reader that may refuse while the others go on.
void unless_refused(const auto& read) {
  try {
    read();
  } catch (const UserError&) {
  }
}

// Throws std::logic_error, which no reader may, where a promise about what was read is broken.
void promise(bool kept, const char* what);

}  // namespace transformer::fuzz
