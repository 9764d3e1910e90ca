#pragma once

// What a run's folder keeps from one start to the next.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "experiments/record.h"
#include "transformer/config.h"
#include "transformer/train/checkpoint.h"

namespace transformer {

// From its first checkpoint on a run's folder belongs to one training; it may be given more steps,
// and, until it is complete, another way of decoding. Throws UserError with the first key that
// would change something else, and both values. Where config.json is missing or damaged, which goes
// to `note`, the result or a checkpoint tells what the run was begun with.
void keep_config(const Config& config, const std::filesystem::path& folder,
                 const std::function<void(const std::string&)>& note);

// One fingerprint of the vocabularies that the config names, as models carry it (decode/load.h).
// Throws UserError where they are not there.
std::string fingerprint_of_vocabularies(const DataConfig& data);

// Throws Failure unless the disk has room for the checkpoints that are kept at once, one more while
// it is written, and the final model.
void expect_room(const std::filesystem::path& folder, const TrainingConfig& training,
                 int64_t parameters);

// Copies, so that the model can be used when the originals are gone. One that is there and differs
// is damaged, and told of.
void keep_vocabularies(const DataConfig& data, const std::filesystem::path& folder,
                       const std::function<void(const std::string&)>& note);

// The final model: the mean of the last checkpoints, under the config that the run ends with.
// Throws Failure where one of them is missing or damaged.
Model final_model(const std::filesystem::path& folder, const Config& config);

// Throws UserError, with the key and both values, where the result in `file` is not of a run with
// this config, its data aside. What the config leaves open, as the size of a vocabulary, the run
// has found out.
void expect_of_run(const Result& result, Config config, const std::filesystem::path& file);

// The result of a run that is complete, its model made again where it is missing or damaged. Empty
// where the result itself is damaged, or its translations are and a checkpoint can make them again:
// the run is not complete then.
std::optional<Result> complete_result(const std::filesystem::path& folder,
                                      const std::function<void(const std::string&)>& note);

}  // namespace transformer
