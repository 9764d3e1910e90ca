#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.h"

namespace fs = std::filesystem;

namespace {

// A folder may include itself and these.
const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"transformer", {"transformer/choices"}},
    {"transformer/choices", {}},
    {"transformer/data", {"transformer"}},
    {"transformer/nn", {"transformer", "transformer/choices", "transformer/nn/kernels"}},
    {"transformer/nn/kernels", {"transformer"}},
    {"transformer/analysis", {"transformer", "transformer/nn", "transformer/data"}},
    {"transformer/train",
     {"transformer", "transformer/nn", "transformer/nn/kernels", "transformer/data",
      "transformer/analysis"}},
    {"transformer/decode",
     {"transformer", "transformer/nn", "transformer/data", "transformer/train",
      "transformer/analysis"}},
    {"experiments",
     {"transformer", "transformer/nn", "transformer/data", "transformer/train",
      "transformer/decode", "transformer/analysis"}},
    {"tools",
     {"transformer", "transformer/nn", "transformer/data", "transformer/train",
      "transformer/decode", "transformer/analysis", "transformer/nn/kernels", "experiments",
      "tools/commands"}},
    {"tools/serve",
     {"transformer", "transformer/nn", "transformer/data", "transformer/train",
      "transformer/decode", "transformer/analysis", "experiments", "tools", "tools/commands"}},
    {"tools/commands",
     {"transformer", "transformer/nn", "transformer/data", "transformer/train",
      "transformer/decode", "transformer/analysis", "transformer/nn/kernels", "experiments",
      "tools", "tools/serve"}},
};

std::vector<std::string> includes_of(const fs::path& file) {
  static const std::regex kInclude(R"re(^#include ["<]([^">]+)[">])re");
  std::vector<std::string> found;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (std::regex_search(line, match, kInclude)) found.push_back(match[1]);
  }
  return found;
}

}  // namespace

TEST_CASE("includes point one way") {
  const fs::path root = TRANSFORMER_SOURCE;
  int files = 0;
  for (const auto& [folder, allowed] : kMayInclude) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::directory_iterator(root / folder)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
      ++files;
      for (const auto& include : includes_of(entry.path())) {
        const std::string target = fs::path(include).parent_path().string();
        if (!kMayInclude.contains(target)) continue;  // std, or a library
        INFO(entry.path() << " includes " << include);
        REQUIRE((target == folder || allowed.contains(target)));
      }
    }
  }
  REQUIRE(files > 50);
}

TEST_CASE("includes: JSON is written in ways that throw at no bytes") {
  const fs::path root = TRANSFORMER_SOURCE;
  int calls = 0;
  for (const char* folder : {"transformer", "experiments", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) {
        if (line.find(".dump(") == std::string::npos) continue;
        INFO(entry.path());
        REQUIRE(line.find("error_handler_t::replace") != std::string::npos);  // as text_of has it
        ++calls;
      }
    }
  }
  REQUIRE(calls > 0);
}

TEST_CASE("includes: nothing that was read is executed or unpickled") {
  const fs::path root = TRANSFORMER_SOURCE;
  const std::regex kProgramRuns(
      R"re(torch::(load|jit|pickle)|\b(system|popen|dlopen|posix_spawnp?|exec[lv]p?e?)\s*\()re");
  const std::regex kScriptRuns(
      R"re(pickle|torch\.load|shell\s*=\s*True|os\.system|(^|[^.\w])(eval|exec)\s*\()re");
  // The sweep starts this program itself, with words of its own, and asks Slurm's.
  const std::map<std::string, std::string> kAllowed = {
      {"launcher.cpp", "execve(file, arguments, environment)"},
      {"other_program.cpp", "posix_spawnp(&pid, program.c_str()"}};
  int files = 0;
  for (const char* folder : {"transformer", "experiments", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const auto extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp" && extension != ".py") continue;
      ++files;
      const auto allowed = kAllowed.find(entry.path().filename().string());
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) {
        if (allowed != kAllowed.end() && line.find(allowed->second) != std::string::npos) continue;
        INFO(entry.path() << ": " << line);
        REQUIRE_FALSE(std::regex_search(line, extension == ".py" ? kScriptRuns : kProgramRuns));
      }
    }
  }
  REQUIRE(files > 150);
}

TEST_CASE("includes: configs, data, grids, records and tables never see torch") {
  const fs::path root = TRANSFORMER_SOURCE;
  const std::set<std::string> sees_torch = {"run.h", "run.cpp"};
  for (const char* folder :
       {"transformer", "transformer/choices", "transformer/data", "experiments"}) {
    for (const auto& entry : fs::directory_iterator(root / folder)) {
      if (!entry.is_regular_file() || sees_torch.contains(entry.path().filename())) continue;
      for (const auto& include : includes_of(entry.path())) {
        INFO(entry.path() << " includes " << include);
        REQUIRE_FALSE(include.starts_with("torch/"));
        REQUIRE_FALSE(include.starts_with("ATen/"));
        REQUIRE_FALSE(include.starts_with("c10/"));
      }
    }
  }
}
