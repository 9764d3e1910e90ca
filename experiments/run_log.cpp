#include "experiments/run_log.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>
#include <vector>

#include "experiments/json_lines.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

// The file's last bytes, from `start` on at the earliest; "" where there is no such file.
std::string tail(const fs::path& path, int64_t start) {
  constexpr int64_t kMost = 16384;
  std::error_code unknown;
  if (!fs::is_regular_file(path, unknown)) return "";  // a pipe would be waited for
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return "";
  const int64_t end = in.tellg();
  start = std::max(start, end - kMost);
  if (start >= end) return "";
  std::string bytes(static_cast<size_t>(end - start), '\0');
  in.seekg(start);
  in.read(bytes.data(), end - start);
  bytes.resize(static_cast<size_t>(in.gcount()));
  return bytes;
}

std::optional<double> number_in(const JsonLine& line, const char* key) {
  const auto found = line.json->find(key);
  if (found == line.json->end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

}  // namespace

std::optional<RunProgress> last_progress(const fs::path& metrics) {
  const std::string bytes = tail(metrics, 0);
  std::optional<RunProgress> progress;
  std::optional<double> perplexity;
  // Backwards from the last line that is whole.
  for (size_t end = bytes.rfind('\n'); end != std::string::npos && (!progress || !perplexity);) {
    const size_t before = end == 0 ? std::string::npos : bytes.rfind('\n', end - 1);
    const size_t start = before == std::string::npos ? 0 : before + 1;
    const std::string text = bytes.substr(start, end - start);
    end = before;
    const JsonLine line{text, json_in(text)};
    const auto step = step_of(line);
    if (!step) continue;
    const auto loss = number_in(line, "loss");
    if (!progress && loss) {
      progress = RunProgress{*step, *loss, number_in(line, "tokens_per_second")};
    }
    if (!perplexity) perplexity = number_in(line, "valid_perplexity");
  }
  if (progress) progress->perplexity = perplexity;
  return progress;
}

int64_t last_checkpoint(const fs::path& checkpoints) {
  constexpr std::string_view kStart = "step-";
  int64_t last = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(checkpoints, ignored)) {
    const std::string name = entry.path().filename().string();
    int64_t step = 0;
    if (!name.starts_with(kStart)) continue;
    const char* end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + kStart.size(), end, step);
    if (read.ec == std::errc() && read.ptr == end) last = std::max(last, step);
  }
  return last;
}

std::string last_line(const fs::path& log, int64_t start) {
  const std::string bytes = tail(log, start);
  std::string last, line;
  const auto end_line = [&] {
    if (line.find_first_not_of(' ') != std::string::npos) last = line;
    line.clear();
  };
  for (const char c : bytes) {
    if (c == '\n' || c == '\r') {  // a progress line is overwritten from its start
      end_line();
    } else if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) {
      line += c;
    }
  }
  end_line();
  return last;
}

}  // namespace transformer
