#include "experiments/metrics.h"

#include <cerrno>
#include <cstring>
#include <string>

#include "transformer/error.h"
#include "transformer/files.h"

namespace transformer {

MetricsFile::MetricsFile(const std::filesystem::path& path, int64_t step) : path_(path) {
  if (std::filesystem::exists(path)) {
    std::ifstream lines(path, std::ios::binary);
    write_file(path, [&](std::ostream& kept) {
      for (std::string line; std::getline(lines, line);) {
        const Json json = Json::parse(line, nullptr, false);
        const bool is_earlier = json.is_object() && json.contains("step") &&
                                json["step"].is_number_integer() &&
                                json["step"].get<int64_t>() <= step;
        if (is_earlier) kept << line << "\n";
      }
      if (lines.bad()) throw Failure(path.string() + ": cannot read");
    });
  }
  errno = 0;
  out_.open(path, std::ios::app);
  if (!out_) throw Failure(path.string() + ": cannot write: " + std::strerror(errno));
}

void MetricsFile::append(const Json& line) {
  errno = 0;
  out_ << text_of(line) << "\n" << std::flush;
  if (!out_) throw Failure(path_.string() + ": cannot write: " + std::strerror(errno));
}

}  // namespace transformer
