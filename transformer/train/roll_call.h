#pragma once

// Only for data_parallel.cpp: it brings c10d with it.

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace transformer {

// Which ranks are still there. A thread of each says so in a store that all can reach, a few times
// a second, and looks at the others: a collective operation that fails, or doesn't end, can't tell
// for which rank. All that this process reads and writes in the store goes through the thread, so
// that the rest never waits for a store whose machine is gone.
class RollCall {
 public:
  using Duration = std::chrono::milliseconds;

  // A rank not heard of for `timeout` has failed. `store` is this object's alone.
  RollCall(c10::intrusive_ptr<c10d::Store> store, int64_t rank, int64_t ranks, Duration timeout,
           std::function<void(const std::string&)> on_lost);
  ~RollCall();
  RollCall(const RollCall&) = delete;
  RollCall& operator=(const RollCall&) = delete;

  void at_step(int64_t step) { step_ = step; }
  void begins_collective() { ++collectives_; }

  void say(const std::string& key, const std::string& value);
  // The values of these keys, once all are there. Throws Failure where a rank is lost meanwhile.
  std::vector<std::string> hear(const std::vector<std::string>& keys);
  // All ranks wait here for each other.
  void meet();
  // After a collective operation failed: throws Failure with the rank it failed for, and returns
  // where all are there and have come as far.
  void find_lost();
  // The last meeting. No rank is missed from here on.
  void leave();

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Other {
    std::string beat;
    Time heard;
  };

  void expect_all_come();
  void run();
  void call_until_stopped();
  void exchange();
  void look_at(const std::vector<std::string>& beats);
  void declare_lost(const std::string& what);
  void end_if_stuck();
  void expect_none_lost();
  std::string beat_key(int64_t rank) const;
  std::string beat();

  const c10::intrusive_ptr<c10d::Store> store_;
  const int64_t rank_;
  const Duration timeout_;
  const std::function<void(const std::string&)> on_lost_;
  std::atomic<int64_t> step_{0};
  std::atomic<int64_t> collectives_{0};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<std::string, std::string>> to_say_;
  std::vector<std::string> wanted_;
  std::optional<std::vector<std::string>> heard_;
  std::string lost_;               // why the training cannot go on; empty while it can
  std::optional<Time> lost_at_;    // when that was known here
  std::optional<Time> failed_at_;  // a collective operation: someone must be missing
  bool has_left_ = false;
  bool stop_ = false;
  bool has_ended_ = false;  // the thread
  Time answered_;           // by the store

  // The thread's own.
  std::vector<Other> others_;  // by rank
  std::vector<std::string> beat_keys_;
  int64_t beats_ = 0;
  int64_t meetings_ = 0;
  std::thread thread_;
};

}  // namespace transformer
