#include "tools/serve/model_worker.h"

#include "transformer/train/device.h"

namespace transformer {

ModelWorker::ModelWorker(size_t waiting, int64_t threads, std::chrono::seconds patience)
    : waiting_(waiting), patience_(patience), thread_([this, threads] {
        use_threads(threads);
        work();
      }) {}

ModelWorker::~ModelWorker() {
  stop();
  thread_.join();
}

void ModelWorker::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  if (current_) current_->stop = true;
  for (const auto& task : tasks_) {
    task->promise.set_exception(std::make_exception_ptr(Busy("the server is ending")));
  }
  tasks_.clear();
  is_asked_.notify_all();
}

Json ModelWorker::answer(Job job) {
  const auto task = std::make_shared<Task>();
  task->job = std::move(job);
  auto answer = task->promise.get_future();
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) throw Busy("the server is ending");
    if (tasks_.size() >= waiting_) {
      throw Busy("the model is busy and " + std::to_string(tasks_.size()) +
                 " requests are waiting for it; try again in a moment");
    }
    tasks_.push_back(task);
    is_asked_.notify_one();
  }
  if (answer.wait_for(patience_) == std::future_status::ready) return answer.get();
  task->stop = true;
  throw Busy("the model took more than " + std::to_string(patience_.count()) +
             " s; ask for less, or try again when the machine has less to do");
}

void ModelWorker::work() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      current_ = nullptr;
      is_asked_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
      if (stopping_) return;
      current_ = tasks_.front();
      tasks_.pop_front();
    }
    if (current_->stop) continue;
    try {
      Json answer = current_->job(current_->stop);
      if (current_->stop) throw Busy("was stopped before its end");
      current_->promise.set_value(std::move(answer));
    } catch (...) {
      current_->promise.set_exception(std::current_exception());
    }
  }
}

}  // namespace transformer
