#include "tests/fuzz/targets.h"
#include "transformer/train/checkpoint.h"
#include "transformer/train/state.h"
#include "transformer/train/step_dump.h"

namespace transformer::fuzz {

void safetensors(const std::string& bytes) {
  const auto path = file_with("weights.safetensors", bytes);
  const StateFile read = read_state(path, ChecksumRule::where_there_is_one);
  uint64_t tensors = 0;
  for (const auto& [name, tensor] : read.state) tensors += tensor.nbytes();
  promise(tensors <= bytes.size(), "tensors are no larger than their file");
  unless_refused([&] { read_model(path); });
  // With a checksum that fits, as a stranger would write it: no fuzzer hits on one.
  const auto sealed = file_with("sealed.safetensors", "");
  write_state(sealed, read.state, read.metadata);
  promise(read_state(sealed).metadata == read.metadata, "a file reads back as it was written");
  unless_refused([&] {
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
