#include "transformer/analysis/time_by_part.h"

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>

#include <chrono>
#include <vector>

namespace transformer {

struct TimeByPart::Clock {
  using Time = std::chrono::steady_clock;

  // The time until now belongs to what was innermost.
  void turn() {
    const auto now = Time::now();
    seconds[inner.empty() ? "other" : inner.back()] +=
        std::chrono::duration<double>(now - last).count();
    last = now;
  }
  void enter(std::string part) {
    turn();
    inner.push_back(std::move(part));
  }
  void leave() {
    turn();
    inner.pop_back();
  }
  // From the next sequence number on, operations belong to the part that is innermost now.
  void mark() { parts[at::sequence_number::peek()] = inner.empty() ? "other" : inner.back(); }
  std::string part_of(uint64_t sequence_number) const {
    auto after = parts.upper_bound(sequence_number);
    return after == parts.begin() ? "other" : std::prev(after)->second;
  }

  std::map<std::string, double> seconds;
  std::map<uint64_t, std::string> parts;  // by the first sequence number of each
  std::vector<std::string> inner;
  std::string last_backward = "other";
  Time::time_point last = Time::now();
};

namespace {

// The callbacks are plain functions; there is one clock a thread.
thread_local TimeByPart::Clock* clock_of_thread = nullptr;

std::unique_ptr<at::ObserverContext> start(const at::RecordFunction& function) {
  auto* clock = clock_of_thread;
  if (clock == nullptr) return nullptr;
  if (function.scope() == at::RecordScope::USER_SCOPE) {
    clock->enter(function.name());
    clock->mark();
  } else {
    // The accumulation of a gradient has no number: it follows what made the gradient.
    const auto number = static_cast<uint64_t>(function.seqNr());
    if (function.seqNr() >= 0) clock->last_backward = clock->part_of(number);
    clock->enter(clock->last_backward);
  }
  return nullptr;
}

void end(const at::RecordFunction& function, at::ObserverContext*) {
  auto* clock = clock_of_thread;
  if (clock == nullptr || clock->inner.empty()) return;
  clock->leave();
  if (function.scope() == at::RecordScope::USER_SCOPE) clock->mark();
}

}  // namespace

TimeByPart::TimeByPart() : clock_(std::make_unique<Clock>()) {
  TORCH_CHECK(clock_of_thread == nullptr, "time by part: one at a time on a thread");
  clock_of_thread = clock_.get();
  callback_ = at::addThreadLocalCallback(
      at::RecordFunctionCallback(start, end)
          .scopes({at::RecordScope::USER_SCOPE, at::RecordScope::BACKWARD_FUNCTION}));
}

TimeByPart::~TimeByPart() {
  at::removeCallback(callback_);
  clock_of_thread = nullptr;
}

std::map<std::string, double> TimeByPart::seconds() const {
  clock_->turn();
  return clock_->seconds;
}

void TimeByPart::reset() {
  clock_->turn();
  clock_->seconds.clear();
  clock_->parts.clear();
}

}  // namespace transformer
