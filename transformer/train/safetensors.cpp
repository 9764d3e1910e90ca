#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/fingerprint.h"
#include "transformer/json.h"
#include "transformer/printable.h"
#include "transformer/sealed_json.h"
#include "transformer/train/state.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

constexpr uint64_t kLongestHeader = 100'000'000;    // the format's own limit
constexpr size_t kMostDimensions = 64;              // LibTorch's own
constexpr uint64_t kMostEmpty = uint64_t{1} << 62;  // of a tensor without values, were 0 not 0
constexpr auto kChecksum = "checksum";

struct Kind {
  const char* name;
  torch::ScalarType type;
};
constexpr std::array kKinds = {Kind{"F64", torch::kFloat64}, Kind{"F32", torch::kFloat32},
                               Kind{"F16", torch::kFloat16}, Kind{"BF16", torch::kBFloat16},
                               Kind{"I64", torch::kInt64},   Kind{"I32", torch::kInt32},
                               Kind{"U8", torch::kUInt8},    Kind{"BOOL", torch::kBool}};

std::string_view bytes_of(const torch::Tensor& tensor) {
  return {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()};
}

// Of the header without its checksum, and of every tensor in the order of the file.
std::string state_checksum(Json header, const std::vector<torch::Tensor>& tensors) {
  if (header.contains("__metadata__")) header["__metadata__"].erase(kChecksum);
  std::string all = text_of(header);
  for (const auto& tensor : tensors) all += fingerprint(bytes_of(tensor));
  return fingerprint(all);
}

struct Entry {
  std::string name;
  torch::ScalarType type;
  std::vector<int64_t> shape;
  uint64_t begin, end;
};

class Reader {
 public:
  explicit Reader(const fs::path& path) : path_(path.string()) {
    std::error_code error;
    size_ = fs::file_size(path, error);
    if (error) throw Damaged(path_ + ": cannot open: " + error.message());
    in_.open(path, std::ios::binary);
    if (!in_) throw Damaged(path_ + ": cannot open");
  }

  StateFile read(ChecksumRule rule) {
    const Json header = read_header();
    std::vector<Entry> entries;
    StateFile file;
    for (const auto& [name, value] : header.items()) {
      if (name == "__metadata__") {
        read_metadata(value, file);
      } else {
        entries.push_back(entry(name, value));
      }
    }
    // One without values begins where another does, and comes before it.
    std::ranges::sort(entries, {}, [](const Entry& each) {
      return std::pair{each.begin, each.end};
    });
    uint64_t end = 0;
    for (const auto& entry : entries) {
      if (entry.begin != end) refuse("the tensors leave a hole or overlap at " + entry.name);
      end = entry.end;
    }
    if (end != size_ - data_) {
      refuse("cut or followed by something else: the tensors need " + std::to_string(data_ + end) +
             " bytes, the file has " + std::to_string(size_));
    }
    std::vector<torch::Tensor> tensors;
    for (const auto& entry : entries) {
      auto tensor = torch::empty(entry.shape, entry.type);
      in_.read(static_cast<char*>(tensor.data_ptr()),
               static_cast<std::streamsize>(tensor.nbytes()));
      if (!in_) refuse("cannot read " + entry.name);
      const std::string_view bytes = bytes_of(tensor);
      if (entry.type == torch::kBool &&
          std::ranges::any_of(bytes, [](char c) { return c != 0 && c != 1; })) {
        refuse(entry.name + " has values that are neither true nor false");
      }
      tensors.push_back(tensor);
      file.state[entry.name] = tensor;
    }
    if (const auto stated = file.metadata.find(kChecksum); stated != file.metadata.end()) {
      if (stated->second != state_checksum(header, tensors)) {
        refuse("damaged: its contents do not match its checksum");
      }
      file.checksum = stated->second;
      file.metadata.erase(stated);
    } else if (rule == ChecksumRule::required) {
      refuse("it has no checksum");
    }
    return file;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Damaged(path_ + ": not a sound safetensors file: " + printable(what, 200));
  }

  Json read_header() {
    std::array<unsigned char, 8> prefix{};
    if (size_ < prefix.size()) refuse("only " + std::to_string(size_) + " bytes long");
    in_.read(reinterpret_cast<char*>(prefix.data()), prefix.size());
    uint64_t length = 0;
    for (size_t i = 0; i < prefix.size(); ++i) length |= uint64_t{prefix[i]} << (8 * i);
    if (length > kLongestHeader || length > size_ - prefix.size()) {
      refuse("its header would be " + std::to_string(length) + " bytes long");
    }
    std::string text(length, '\0');
    in_.read(text.data(), static_cast<std::streamsize>(length));
    if (!in_) refuse("cannot read its header");
    data_ = prefix.size() + length;
    Json header;
    try {
      header = parse_json(text, "its header");
    } catch (const UserError& error) {
      refuse(error.what());
    }
    if (!header.is_object()) refuse("its header is not an object");
    return header;
  }

  void read_metadata(const Json& value, StateFile& file) const {
    if (!value.is_object()) refuse("__metadata__ is not an object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) refuse("__metadata__." + key + " is not a string");
      file.metadata[key] = text.get<std::string>();
    }
  }

  Entry entry(const std::string& name, const Json& value) const {
    const auto unsigned_list = [&](const char* key) {
      if (!value.is_object() || !value.contains(key) || !value[key].is_array()) {
        refuse(name + " has no " + key);
      }
      std::vector<uint64_t> list;
      for (const auto& number : value[key]) {
        if (!number.is_number_unsigned()) refuse(name + "." + key + " is not a list of sizes");
        list.push_back(number.get<uint64_t>());
      }
      return list;
    };
    const auto shape = unsigned_list("shape");
    const auto offsets = unsigned_list("data_offsets");
    const auto kind = std::ranges::find_if(kKinds, [&](const Kind& each) {
      return value.contains("dtype") && value["dtype"] == each.name;
    });
    if (kind == kKinds.end()) refuse(name + " has a dtype that is not known here");
    const uint64_t most = size_ - data_;
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > most) {
      refuse(name + " lies outside the file");
    }
    if (shape.size() > kMostDimensions) {
      refuse(name + " has " + std::to_string(shape.size()) + " dimensions");
    }
    const bool is_empty = std::ranges::find(shape, 0u) != shape.end();
    uint64_t bytes = torch::elementSize(kind->type);
    for (const uint64_t size : shape) {
      if (size == 0) continue;  // strides are products of the others
      if (bytes > (is_empty ? kMostEmpty : most) / size) refuse(name + " is larger than the file");
      bytes *= size;
    }
    if (is_empty) bytes = 0;
    if (bytes != offsets[1] - offsets[0]) refuse(name + ": shape and offsets disagree");
    return {name, kind->type, {shape.begin(), shape.end()}, offsets[0], offsets[1]};
  }

  std::string path_;
  std::ifstream in_;
  uint64_t size_ = 0;
  uint64_t data_ = 0;  // where the tensors begin
};

}  // namespace

std::string write_state(const fs::path& path, const State& state,
                        const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  header["__metadata__"] = metadata;
  std::vector<torch::Tensor> tensors;
  uint64_t offset = 0;
  for (const auto& [name, value] : state) {
    const auto tensor = value.detach().cpu().contiguous();
    const auto kind = std::ranges::find(kKinds, tensor.scalar_type(), &Kind::type);
    TORCH_CHECK(kind != kKinds.end(), name, ": a dtype that safetensors files here do not hold");
    header[name] = {{"dtype", kind->name},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {offset, offset + tensor.nbytes()}}};
    offset += tensor.nbytes();
    tensors.push_back(tensor);
  }
  const std::string checksum = state_checksum(header, tensors);
  header["__metadata__"][kChecksum] = checksum;
  std::string text = text_of(header);
  text.append((8 - text.size() % 8) % 8, ' ');  // the tensors begin aligned
  write_file(path, [&](std::ostream& out) {
    std::array<char, 8> prefix{};
    for (size_t i = 0; i < prefix.size(); ++i)
      prefix[i] = static_cast<char>(text.size() >> (8 * i));
    out.write(prefix.data(), prefix.size());
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    for (const auto& tensor : tensors) {
      out.write(bytes_of(tensor).data(), static_cast<std::streamsize>(tensor.nbytes()));
    }
  });
  return checksum;
}

StateFile read_state(const fs::path& path, ChecksumRule rule) { return Reader(path).read(rule); }

}  // namespace transformer
