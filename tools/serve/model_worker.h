#pragma once

// One thread for what needs a model: beside a sweep there is no room for more. Whoever asks waits
// in a short line, and is told so where it is full.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include "transformer/error.h"
#include "transformer/json.h"

namespace transformer {

// Too many are waiting, or it took too long.
class Busy : public Failure {
 public:
  using Failure::Failure;
};

class ModelWorker {
 public:
  // `stop` turns true once nobody waits for the answer any more.
  using Job = std::function<Json(const std::atomic<bool>& stop)>;

  // `waiting`: jobs that may wait besides the one that is done. `threads`: of its matrix products.
  ModelWorker(size_t waiting, int64_t threads, std::chrono::seconds patience);
  ~ModelWorker();
  ModelWorker(const ModelWorker&) = delete;
  ModelWorker& operator=(const ModelWorker&) = delete;

  // Waits for its turn and its end. Throws what the job throws, and Busy.
  Json answer(Job job);
  void stop();  // what is done and what waits ends with Busy

 private:
  struct Task {
    Job job{};
    std::promise<Json> promise{};
    std::atomic<bool> stop = false;
  };

  void work();

  size_t waiting_;
  std::chrono::seconds patience_;
  std::mutex mutex_;
  std::condition_variable is_asked_;
  std::deque<std::shared_ptr<Task>> tasks_;
  std::shared_ptr<Task> current_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace transformer
