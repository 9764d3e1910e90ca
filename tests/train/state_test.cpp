#include "transformer/train/state.h"

#include <torch/torch.h>

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/error.h"
#include "transformer/files.h"

using namespace transformer;
using Catch::Matchers::Contains;

namespace {

State some_state() {
  return {{"a.weight", torch::arange(6, torch::kFloat32).reshape({2, 3})},
          {"b", torch::tensor(2.5, torch::kFloat64)},
          {"empty", torch::empty({0, 4})},
          {"ids", torch::tensor({1, -2}, torch::kInt64)}};
}

// A file with this header and so many bytes after it.
std::string file_with(const std::string& header, size_t bytes) {
  std::string file(8, '\0');
  for (size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(header.size() >> (8 * i));
  return file + header + std::string(bytes, '\0');
}

}  // namespace

TEST_CASE("state: a file gives back what was written") {
  const TemporaryFolder folder;
  write_state(folder / "s.safetensors", some_state(), {{"config", "{\"x\": \"ü\"}"}});
  const auto read = read_state(folder / "s.safetensors");
  REQUIRE(read.metadata == std::map<std::string, std::string>{{"config", "{\"x\": \"ü\"}"}});
  REQUIRE(read.state.size() == 4);
  for (const auto& [name, tensor] : some_state()) {
    INFO(name);
    REQUIRE(read.state.at(name).dtype() == tensor.dtype());
    REQUIRE(torch::equal(read.state.at(name), tensor));
  }
}

TEST_CASE("state: a file cut at any length or with any bit flipped is refused") {
  const TemporaryFolder folder;
  const auto path = folder / "s.safetensors";
  write_state(path, some_state(), {{"config", "{}"}});
  const std::string sound = read_file(path);
  for (size_t length = 0; length < sound.size(); ++length) {
    put(path, sound.substr(0, length));
    REQUIRE_THROWS_AS(read_state(path), UserError);
  }
  for (size_t bit = 0; bit < 8 * sound.size(); ++bit) {
    std::string damaged = sound;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    put(path, damaged);
    INFO("bit " << bit);
    REQUIRE_THROWS_AS(read_state(path), UserError);
  }
}

TEST_CASE("state: a hostile header is refused before anything is allocated") {
  const TemporaryFolder folder;
  const auto path = folder / "s.safetensors";
  const auto refused = [&](const std::string& header, size_t bytes, const std::string& message) {
    put(path, file_with(header, bytes));
    INFO(header);
    REQUIRE_THROWS_WITH(read_state(path, ChecksumRule::where_there_is_one), Contains(message));
  };
  refused(R"({"a":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,4]}})", 4,
          "larger than the file");
  refused(R"({"a":{"dtype":"F32","shape":[65536,65536,65536,65536],"data_offsets":[0,4]}})", 4,
          "larger than the file");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", 4, "outside the file");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}})", 8, "outside the file");
  refused(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "not a list of sizes");
  refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 8, "disagree");
  refused(R"({"a":{"dtype":"Q4","shape":[1],"data_offsets":[0,4]}})", 4, "dtype");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},
              "b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
          4, "overlap");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8, "hole");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 5, "followed by something");
  refused(R"([])", 0, "not an object");
  refused(R"({"__metadata__":{"config":1}})", 0, "not a string");
  put(path, std::string(8, '\xff'));
  REQUIRE_THROWS_WITH(read_state(path), Contains("header would be"));
}

TEST_CASE("state: every misfit is named before any tensor is touched") {
  auto to = State{{"a", torch::zeros({2})}, {"b", torch::zeros({3})}, {"c", torch::zeros({1})}};
  const auto from =
      State{{"a", torch::ones({2})}, {"b", torch::ones({4})}, {"d", torch::ones({1})}};
  REQUIRE_THROWS_WITH(assign(from, to, "file"),
                      "file: does not fit the model (3 tensors): b: file has [4], model has [3]; "
                      "c: missing from the file; d: not in the model");
  REQUIRE(to.at("a").sum().item<float>() == 0);
}
