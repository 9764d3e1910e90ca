#ifdef TRANSFORMER_C10D

#include "transformer/train/roll_call.h"

#include <sstream>

#include "transformer/error.h"

namespace transformer {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kBeat = 500ms;
constexpr auto kBeatWhileAwaited = 20ms;
constexpr auto kSilent = 4 * kBeat;      // suspicious, where something has failed already
constexpr auto kFindsLost = 3s;          // and found by then
constexpr auto kThrowsItself = 10s;      // the thread that trains, once its wait ends with an error
constexpr auto kOthersRead = 3 * kBeat;  // what this rank has left in the store
constexpr auto kLost = "lost";

std::vector<uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }
std::string text_of_bytes(const std::vector<uint8_t>& bytes) {
  return {bytes.begin(), bytes.end()};
}

std::string in_seconds(Clock::duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s";
}

// A beat: "COUNT STEP COLLECTIVES".
int64_t collectives_in(const std::string& beat) {
  std::istringstream words(beat);
  int64_t count = 0, step = 0, collectives = 0;
  words >> count >> step >> collectives;
  return collectives;
}

}  // namespace

RollCall::RollCall(c10::intrusive_ptr<c10d::Store> store, int64_t rank, int64_t ranks,
                   Duration timeout, std::function<void(const std::string&)> on_lost)
    : store_(std::move(store)),
      rank_(rank),
      timeout_(timeout),
      on_lost_(std::move(on_lost)),
      answered_(Clock::now()) {
  for (int64_t r = 0; r < ranks; ++r) beat_keys_.push_back("beat/" + std::to_string(r));
  store_->set(beat_keys_[static_cast<size_t>(rank)], bytes_of(beat()));
  expect_all_come();
  others_.assign(static_cast<size_t>(ranks), {"", Clock::now()});
  thread_ = std::thread([this] { run(); });
}

void RollCall::expect_all_come() {
  try {
    store_->wait(beat_keys_, timeout_);
  } catch (const std::exception&) {
    std::string missing;
    for (size_t r = 0; r < beat_keys_.size(); ++r) {
      if (store_->check({beat_keys_[r]})) continue;
      missing += (missing.empty() ? "" : ", ") + std::to_string(r);
    }
    throw Failure("of " + std::to_string(beat_keys_.size()) + " ranks these have not come within " +
                  in_seconds(timeout_) + ": " + missing);
  }
}

RollCall::~RollCall() {
  bool is_news = false;
  {
    const std::lock_guard lock(mutex_);
    is_news = !has_left_ && lost_.empty();
  }
  // The step's number is no part of it where training has not begun.
  if (is_news) {
    const std::string what =
        "rank " + std::to_string(rank_) + " ended with an error, which its own messages tell";
    say(kLost, step_ == 0 ? what : "step " + std::to_string(step_) + ": " + what);
  }
  if (!has_left_) std::this_thread::sleep_for(kOthersRead);  // the store may end with this process
  std::unique_lock lock(mutex_);
  stop_ = true;
  changed_.notify_all();
  const bool has_ended = changed_.wait_for(lock, kFindsLost, [&] { return has_ended_; });
  const std::string lost = lost_;
  lock.unlock();
  if (!has_ended && on_lost_) on_lost_(lost);  // the thread waits for a store that hangs
  thread_.join();
}

std::string RollCall::beat() {
  return std::to_string(beats_++) + " " + std::to_string(step_) + " " +
         std::to_string(collectives_);
}

void RollCall::say(const std::string& key, const std::string& value) {
  {
    const std::lock_guard lock(mutex_);
    to_say_.emplace_back(key, value);
  }
  changed_.notify_all();
}

void RollCall::expect_none_lost() {
  if (!lost_.empty()) throw Failure(lost_);
}

std::vector<std::string> RollCall::hear(const std::vector<std::string>& keys) {
  std::unique_lock lock(mutex_);
  wanted_ = keys;
  heard_.reset();
  changed_.notify_all();
  while (!heard_) {
    expect_none_lost();
    changed_.wait_for(lock, kBeat);
    if (!heard_ && Clock::now() - answered_ > timeout_) {
      throw Failure("rank 0, where the ranks meet, has not answered for " +
                    in_seconds(Clock::now() - answered_));
    }
  }
  return std::move(*heard_);
}

void RollCall::meet() {
  const std::string meeting = "met/" + std::to_string(meetings_++) + "/";
  std::vector<std::string> keys;
  for (size_t r = 0; r < beat_keys_.size(); ++r) keys.push_back(meeting + std::to_string(r));
  say(keys[static_cast<size_t>(rank_)], "here");
  hear(keys);
}

void RollCall::leave() {
  meet();
  std::vector<std::string> keys;
  for (size_t r = 1; r < beat_keys_.size(); ++r) keys.push_back("left/" + std::to_string(r));
  std::unique_lock lock(mutex_);
  has_left_ = true;
  if (rank_ > 0) {
    to_say_.emplace_back(keys[static_cast<size_t>(rank_) - 1], "yes");
  } else {  // the last to go, for the store may end with it
    wanted_ = keys;
    heard_.reset();
    changed_.notify_all();
    changed_.wait_for(lock, kThrowsItself, [&] { return heard_.has_value(); });
  }
  stop_ = true;
  changed_.notify_all();
}

void RollCall::find_lost() {
  const auto since = Clock::now();
  std::unique_lock lock(mutex_);
  failed_at_ = since;
  changed_.notify_all();
  changed_.wait_for(lock, kFindsLost + kSilent, [&] { return !lost_.empty(); });
  if (lost_.empty() && answered_ < since) {
    lost_ = "step " + std::to_string(step_) +
            ": rank 0, where the ranks meet, does not answer; last heard of " +
            in_seconds(Clock::now() - answered_) + " ago";
  }
  expect_none_lost();
}

void RollCall::run() {
  call_until_stopped();
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  changed_.notify_all();
}

void RollCall::call_until_stopped() {
  std::unique_lock lock(mutex_);
  while (true) {
    const bool is_last = stop_;
    lock.unlock();
    try {
      exchange();
    } catch (const std::exception&) {
      lock.lock();
      if (has_left_ || is_last) return;
      if (lost_.empty()) {
        lost_ = "step " + std::to_string(step_) + ": rank 0, where the ranks meet, has gone";
        lost_at_ = Clock::now();
        changed_.notify_all();
      }
      lock.unlock();
      std::this_thread::sleep_for(kBeat);
    }
    lock.lock();
    if (is_last) return;
    end_if_stuck();
    const bool is_awaited = !wanted_.empty() && !heard_;
    changed_.wait_for(lock, is_awaited ? Duration(kBeatWhileAwaited) : Duration(kBeat), [&] {
      return stop_ || !to_say_.empty() || (!is_awaited && !wanted_.empty() && !heard_);
    });
  }
}

void RollCall::exchange() {
  std::vector<std::pair<std::string, std::string>> words;
  std::vector<std::string> wanted;
  {
    const std::lock_guard lock(mutex_);
    words.swap(to_say_);
    if (!heard_) wanted = wanted_;
  }
  store_->set(beat_keys_[static_cast<size_t>(rank_)], bytes_of(beat()));
  std::vector<std::string> beats;
  for (const auto& bytes : store_->multiGet(beat_keys_)) beats.push_back(text_of_bytes(bytes));
  const std::string lost = store_->check({kLost}) ? text_of_bytes(store_->get(kLost)) : "";
  std::optional<std::vector<std::string>> heard;
  if (!wanted.empty() && store_->check(wanted)) {
    heard.emplace();
    for (const auto& bytes : store_->multiGet(wanted)) heard->push_back(text_of_bytes(bytes));
  }
  // Last of all, for where it is that this rank has left, the store may be gone next.
  for (const auto& [key, value] : words) store_->set(key, bytes_of(value));
  {
    const std::lock_guard lock(mutex_);
    answered_ = Clock::now();
    if (heard) heard_ = std::move(heard);
    if (lost_.empty() && !lost.empty() && !has_left_) {
      lost_ = lost;
      lost_at_ = Clock::now();
    }
  }
  changed_.notify_all();
  look_at(beats);
}

void RollCall::look_at(const std::vector<std::string>& beats) {
  const auto now = Clock::now();
  for (size_t r = 0; r < beats.size(); ++r) {
    if (beats[r] != others_[r].beat) others_[r] = {beats[r], now};
  }
  std::optional<Time> failed_at;
  {
    const std::lock_guard lock(mutex_);
    if (has_left_ || !lost_.empty()) return;
    failed_at = failed_at_;
  }
  const auto most = failed_at ? std::min(timeout_, Duration(kSilent)) : timeout_;
  const auto step = "step " + std::to_string(step_) + ": rank ";
  for (size_t r = 0; r < others_.size(); ++r) {
    if (now - others_[r].heard > most) {
      return declare_lost(step + std::to_string(r) + " does not answer; last heard of " +
                          in_seconds(now - others_[r].heard) + " ago");
    }
  }
  if (!failed_at || now - *failed_at < kFindsLost) return;
  for (size_t r = 0; r < others_.size(); ++r) {
    if (collectives_in(others_[r].beat) < collectives_) {
      return declare_lost(step + std::to_string(r) +
                          " is stuck: the others have waited for it for " + in_seconds(timeout_));
    }
  }
}

// The first word on it stands, so that all ranks say the same.
void RollCall::declare_lost(const std::string& what) {
  const std::string said = text_of_bytes(store_->compareSet(kLost, bytes_of(""), bytes_of(what)));
  {
    const std::lock_guard lock(mutex_);
    lost_ = said;
    lost_at_ = Clock::now();
  }
  changed_.notify_all();
}

// With the lock held.
void RollCall::end_if_stuck() {
  if (has_left_ || !lost_at_ || Clock::now() - *lost_at_ < kThrowsItself) return;
  lost_at_.reset();
  if (on_lost_) on_lost_(lost_);
}

}  // namespace transformer

#endif
