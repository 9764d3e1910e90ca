#include "transformer/data/batches.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include "transformer/config.h"
#include "transformer/data/tokenizer.h"
#include "transformer/error.h"

namespace transformer {

Batch outline_of(const Corpus& corpus, const std::vector<int64_t>& rows) {
  Batch batch;
  batch.rows = rows;
  batch.sentences = std::ssize(rows);
  for (const int64_t row : rows) {
    batch.source_length = std::max(batch.source_length, std::ssize(corpus.source(row)));
    batch.target_length = std::max(batch.target_length, std::ssize(corpus.target(row)));
    batch.source_tokens += std::ssize(corpus.source(row));
    batch.target_tokens += std::ssize(corpus.target(row));
    batch.chosen_tokens += chosen_pieces(std::ssize(corpus.target(row)) - 1);
  }
  return batch;
}

Batch make_batch(const Corpus& corpus, const std::vector<int64_t>& rows) {
  Batch batch = outline_of(corpus, rows);
  batch.source.assign(static_cast<size_t>(batch.sentences * batch.source_length), kPad);
  batch.target_input.assign(static_cast<size_t>(batch.sentences * batch.target_length), kPad);
  batch.target_output = batch.target_input;
  for (int64_t i = 0; i < batch.sentences; ++i) {
    const auto source = corpus.source(rows[static_cast<size_t>(i)]);
    const auto target = corpus.target(rows[static_cast<size_t>(i)]);
    std::copy(source.begin(), source.end(), batch.source.begin() + i * batch.source_length);
    const auto input = batch.target_input.begin() + i * batch.target_length;
    *input = kBos;
    std::copy(target.begin(), target.end() - 1, input + 1);
    std::copy(target.begin(), target.end(), batch.target_output.begin() + i * batch.target_length);
  }
  return batch;
}

// The thread's side: a bounded queue, filled until it is told to stop.
class BatchStream::Producer {
 public:
  using Plan = std::vector<std::vector<int64_t>>;
  struct Item {
    Batch batch;
    Position after;  // where the stream is once the batch is taken
    int64_t batches_after = 0;
  };

  Producer(const Corpus& corpus, int64_t tokens_per_batch, int64_t seed, Position start,
           Contents contents)
      : corpus_(corpus),
        tokens_per_batch_(tokens_per_batch),
        seed_(seed),
        contents_(contents),
        at_(start) {
    if (corpus.size() == 0) throw UserError("data.train: expected pairs of sentences; got none");
    if (start.epoch < 0 || start.batch < 0) refuse();
    plan_ = plan(start.epoch);
    if (start.batch > std::ssize(plan_)) refuse();
    if (start.batch == std::ssize(plan_)) {  // the end of an epoch is the start of the next
      at_ = {start.epoch + 1, 0};
      plan_ = plan(at_.epoch);
    }
  }
  ~Producer() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  Position at() const { return at_; }
  int64_t batches() const { return std::ssize(plan_); }
  void start() {
    thread_ = std::thread([this] { run(); });
  }

  Item take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty() || error_; });
    if (ready_.empty()) std::rethrow_exception(error_);
    Item item = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return item;
  }

 private:
  static constexpr size_t kAhead = 8;

  [[noreturn]] void refuse() const {
    throw UserError("position in the data: expected one within an epoch of " +
                    std::to_string(plan_.size()) + " batches; got epoch " +
                    std::to_string(at_.epoch) + ", batch " + std::to_string(at_.batch) +
                    "; the text or data.tokens_per_batch is not what it was");
  }

  Batch batch(const std::vector<int64_t>& rows) const {
    return contents_ == Contents::whole ? make_batch(corpus_, rows) : outline_of(corpus_, rows);
  }

  Plan plan(int64_t epoch) const { return plan_epoch(corpus_, tokens_per_batch_, seed_, epoch); }

  void run() {
    try {
      while (true) {
        // Large corpora take a second to plan: that happens while this epoch's batches are
        // consumed.
        auto next = std::async(std::launch::async, [this, e = at_.epoch + 1] { return plan(e); });
        const int64_t batches = std::ssize(plan_);
        for (bool last = false; !last;) {
          Item item{batch(plan_[static_cast<size_t>(at_.batch)]), {}, batches};
          last = ++at_.batch == batches;
          if (last) {
            plan_ = next.get();
            at_ = {at_.epoch + 1, 0};
            item.batches_after = std::ssize(plan_);
          }
          item.after = at_;
          if (!put(std::move(item))) return;
        }
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
    }
    changed_.notify_all();
  }

  // Waits for room. False where the stream has ended.
  bool put(Item item) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ready_.size() < kAhead || stop_; });
    if (stop_) return false;
    ready_.push_back(std::move(item));
    lock.unlock();
    changed_.notify_all();
    return true;
  }

  const Corpus corpus_;
  const int64_t tokens_per_batch_;
  const int64_t seed_;
  const Contents contents_;
  Position at_;
  Plan plan_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> ready_;
  std::exception_ptr error_;
  bool stop_ = false;
  std::thread thread_;
};

BatchStream::BatchStream(const Corpus& corpus, int64_t tokens_per_batch, int64_t seed,
                         Position start, Contents contents)
    : producer_(std::make_unique<Producer>(corpus, tokens_per_batch, seed, start, contents)),
      position_(producer_->at()),
      batches_(producer_->batches()) {
  producer_->start();
}

BatchStream::~BatchStream() = default;

Batch BatchStream::next() {
  auto item = producer_->take();
  position_ = item.after;
  batches_ = item.batches_after;
  return std::move(item.batch);
}

Position BatchStream::position() const { return position_; }
int64_t BatchStream::batches() const { return batches_; }

}  // namespace transformer
