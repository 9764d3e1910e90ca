#pragma once

#include <torch/types.h>

#include <filesystem>
#include <map>
#include <string>

namespace torch::nn {
class Module;
}

namespace transformer {

// The parameters of a model, the moments of an optimizer: tensors by name.
using State = std::map<std::string, torch::Tensor>;

State state_of(const torch::nn::Module& module);

// Copies `from` into the tensors of `to`. Throws UserError naming every missing, unknown and
// misshapen tensor at once, before any is touched. `where` stands before the message.
void assign(const State& from, State& to, const std::string& where);

struct StateFile {
  State state;
  std::map<std::string, std::string> metadata;
  std::string checksum{};  // that the file states and its contents have; may be empty
};

// The safetensors format. A checksum over names, shapes, metadata and values goes into the
// metadata, and is returned; a file that has one is checked against it. Written whole or not at
// all; throws Failure.
std::string write_state(const std::filesystem::path& path, const State& state,
                        const std::map<std::string, std::string>& metadata);

// Files of another program have no checksum; ours always do.
enum class ChecksumRule { required, where_there_is_one };

// Reads as from a stranger: sizes and offsets are checked before anything is allocated. Throws
// UserError.
StateFile read_state(const std::filesystem::path& path, ChecksumRule rule = ChecksumRule::required);

}  // namespace transformer
