#include "tools/serve/known_runs.h"

#include <algorithm>

#include "transformer/error.h"
#include "transformer/files.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

// There, and a file or folder of its own.
bool has(const fs::path& folder, const char* name) {
  std::error_code ignored;
  const auto status = fs::symlink_status(folder / name, ignored);
  return fs::exists(status) && !fs::is_symlink(status);
}

bool has_model(const fs::path& folder) {
  return has(folder, "config.json") &&
         (has(folder, "model.safetensors") || has(folder, "checkpoints"));
}

class FolderScan {
 public:
  explicit FolderScan(fs::path root) : root_(std::move(root)) {}

  KnownRuns::Found run() {
    look_into(root_, 0, false);
    return std::move(found_);
  }

 private:
  void look_into(const fs::path& folder, int depth, bool in_sweep) {
    constexpr int kDeepest = 64;      // no link is followed, so that there is an end
    constexpr size_t kMost = 20'000;  // files and folders: a home folder by mistake
    const std::string name = folder == root_ ? "." : folder.lexically_relative(root_).string();
    const bool is_sweep = has(folder, "results.json");
    if (is_sweep || (!in_sweep && has(folder, "config.json"))) found_.sweeps[name] = folder;
    if (has_model(folder)) found_.models[name] = folder;
    std::error_code problem;
    for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end;
         entry.increment(problem)) {
      if (++seen_ > kMost) {
        found_.is_whole = false;
        return;
      }
      std::error_code ignored;
      const auto inner = entry->path().filename().string();
      if (entry->is_symlink(ignored) || !entry->is_directory(ignored)) continue;
      if (inner == "checkpoints" || inner.starts_with('.')) continue;
      if (depth == kDeepest) {
        found_.is_whole = false;
        return;
      }
      look_into(entry->path(), depth + 1, in_sweep || is_sweep);
    }
  }

  fs::path root_;
  KnownRuns::Found found_;
  size_t seen_ = 0;
};

}  // namespace

KnownRuns::KnownRuns(const fs::path& root) {
  if (!fs::is_directory(root)) {
    throw UserError(shown_path(root) + ": expected a folder with runs or sweeps; there is none");
  }
  root_ = fs::canonical(root);
}

KnownRuns::Found KnownRuns::look() const { return FolderScan(root_).run(); }

}  // namespace transformer
