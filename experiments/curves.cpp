#include "experiments/curves.h"

#include <sys/stat.h>

#include <fstream>

#include "experiments/json_lines.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

Curve thinned(const Curve& all, size_t most) {
  if (all.size() <= most) return all;
  const size_t every = (all.size() + most - 1) / most;
  Curve kept;
  for (size_t i = 0; i < all.size(); ++i) {
    if ((all.size() - 1 - i) % every == 0) kept.push_back(all[i]);
  }
  return kept;
}

}  // namespace

Curve learning_curve(const fs::path& metrics, const std::string& key, size_t most) {
  GrowingCurves curves(metrics, {key});
  curves.look();
  return curves.curve(key, most);
}

GrowingCurves::GrowingCurves(fs::path metrics, const std::vector<std::string>& keys)
    : metrics_(std::move(metrics)) {
  for (const auto& key : keys) curves_[key];
}

bool GrowingCurves::look() {
  struct stat now {};
  // A pipe would be waited for, and a device might have no end.
  const bool is_there = stat(metrics_.c_str(), &now) == 0 && S_ISREG(now.st_mode);
  if (is_there && now.st_ino == file_ && now.st_size == read_) return false;
  if (!is_there || now.st_ino != file_ || now.st_size < read_) {
    const bool was_there = file_ != 0;
    file_ = is_there ? now.st_ino : 0;
    read_ = 0;
    for (auto& [unused, curve] : curves_) curve.clear();
    if (!is_there) return was_there;
  }
  std::ifstream in(metrics_, std::ios::binary);
  in.seekg(read_);
  // A last line without its end is read again once it has grown.
  for (std::string line; std::getline(in, line) && !in.eof();) {
    read_ += std::ssize(line) + 1;
    add_line(line);
  }
  return true;
}

void GrowingCurves::add_line(const std::string& line) {
  const JsonLine read{line, json_in(line)};
  const auto step = step_of(read);
  if (!step) return;
  for (auto& [key, curve] : curves_) {
    const auto value = read.json->find(key);
    if (value == read.json->end() || !value->is_number()) continue;
    curve.emplace_back(*step, value->get<double>());
  }
}

Curve GrowingCurves::curve(const std::string& key, size_t most) const {
  const auto found = curves_.find(key);
  return found == curves_.end() ? Curve() : thinned(found->second, most);
}

}  // namespace transformer
