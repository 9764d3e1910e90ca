#include "tests/fuzz/targets.h"
#include "transformer/error.h"
#include "transformer/train/checkpoint.h"
#include "transformer/train/state.h"
#include "transformer/train/step_dump.h"

namespace transformer::fuzz {

namespace {

void read_if_it_is_one(const auto& read) {
  try {
    read();
  } catch (const UserError&) {
  }
}

}  // namespace

void safetensors(const std::string& bytes) {
  const auto path = file_with("weights.safetensors", bytes);
  const StateFile read = read_state(path, ChecksumRule::where_there_is_one);
  uint64_t tensors = 0;
  for (const auto& [name, tensor] : read.state) tensors += tensor.nbytes();
  promise(tensors <= bytes.size(), "tensors are no larger than their file");
  read_if_it_is_one([&] { read_model(path); });
  // With a checksum that fits, as a stranger would write it: no fuzzer hits on one.
  const auto sealed = file_with("sealed.safetensors", "");
  write_state(sealed, read.state, read.metadata);
  promise(read_state(sealed).metadata == read.metadata, "a file reads back as it was written");
  read_if_it_is_one([&] {
    for (const auto& batch : read_dump(sealed).batches) {
      const int64_t target = batch.sentences * batch.target_length;
      promise(std::ssize(batch.source) == batch.sentences * batch.source_length &&
                  std::ssize(batch.target_input) == target &&
                  std::ssize(batch.target_output) == target,
              "a batch has as many word-pieces as its shape says");
    }
  });
}

}  // namespace transformer::fuzz
