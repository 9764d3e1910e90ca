#pragma once

// The runs as a page shows them, read by a thread of its own while anybody asks: an answer never
// waits for the disk.

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "experiments/sweep_observer.h"
#include "tools/serve/known_runs.h"
#include "transformer/clock.h"

namespace transformer {

// In words, with the file.
struct Unreadable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class LiveRuns {
 public:
  explicit LiveRuns(KnownRuns known);
  ~LiveRuns();
  LiveRuns(const LiveRuns&) = delete;
  LiveRuns& operator=(const LiveRuns&) = delete;

  // {"is_read", "is_whole" (KnownRuns::Found), "sweeps": [{"name", "runs", "complete", "running"}],
  // "checkpoints": [NAME]} as JSON. Of a sweep that cannot be read {"name", "problem"}.
  std::string overview();
  // One sweep: {"name", "version", "table" (HTML), "runs": [...]} or {"name", "problem"}, and its
  // charts. nullopt where none has this name. `version` changes with the charts and the table.
  // Charts of a sweep that could not be read so far throw Unreadable.
  std::optional<std::string> sweep(const std::string& name);
  std::optional<std::string> charts(const std::string& name);
  // The folder of a model, by the name the overview gives it.
  std::optional<std::filesystem::path> model(const std::string& name);

 private:
  struct Watched {
    explicit Watched(const std::filesystem::path& folder) : observer(folder) {}
    // Used by the thread alone.
    SweepObserver observer;
    int64_t version = 0;
    std::string table;
    // What is answered.
    std::string status, charts, problem;
    Json summary;  // in the overview
  };

  void work();
  void look();
  void look_at(const std::string& name, Watched& watched);
  template <class F>
  auto when_read(F&& answer);

  KnownRuns known_;
  std::mutex mutex_;
  std::condition_variable asked_, read_;
  std::map<std::string, std::shared_ptr<Watched>> watched_;
  KnownRuns::Folders models_;
  Clock::time_point last_asked_ = Clock::now();
  bool is_read_ = false;
  bool is_whole_ = true;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace transformer
