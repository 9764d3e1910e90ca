#include "experiments/metrics.h"

#include <cerrno>
#include <cstring>
#include <sstream>
#include <string>

#include "transformer/error.h"
#include "transformer/files.h"

namespace transformer {

MetricsFile::MetricsFile(const std::filesystem::path& path, int64_t step) : path_(path) {
  if (std::filesystem::exists(path)) {
    std::string kept;
    std::istringstream lines(read_file(path));
    for (std::string line; std::getline(lines, line);) {
      const Json json = Json::parse(line, nullptr, false);
      const bool is_earlier = json.is_object() && json.contains("step") &&
                              json["step"].is_number_integer() &&
                              json["step"].get<int64_t>() <= step;
      if (is_earlier) kept += line + "\n";
    }
    write_file(path, kept);
  }
  errno = 0;
  out_.open(path, std::ios::app);
  if (!out_) throw Failure(path.string() + ": cannot write: " + std::strerror(errno));
}

void MetricsFile::append(const Json& line) {
  errno = 0;
  out_ << line.dump() << "\n" << std::flush;
  if (!out_) throw Failure(path_.string() + ": cannot write: " + std::strerror(errno));
}

}  // namespace transformer
