#include "tools/serve/live_runs.h"

#include <algorithm>

#include "experiments/charts.h"
#include "experiments/table.h"
#include "transformer/error.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

Json run_json(const RunStatus& run) {
  return {{"row", run.id},
          {"seed", run.seed},
          {"state", run.queued.empty() ? name_of(run.state) : "queued"},
          {"message", run.queued.empty() ? run.message : run.queued},
          {"step", fields::write(run.step)},
          {"train_steps", run.train_steps},
          {"loss", fields::write(run.loss)},
          {"perplexity", fields::write(run.perplexity)},
          {"bleu", fields::write(run.bleu)},
          {"seconds", fields::write(run.seconds)},
          {"seconds_left", fields::write(run.seconds_left)}};
}

Json charts_json(const SweepObserver& sweep) {
  Json list = Json::array();
  const auto curve_of = [&](const std::string& row, int64_t seed, const std::string& key) {
    return sweep.curve(row, seed, key);
  };
  for (const auto& chart : charts_of(summarize(sweep.results()), sweep.folder(), curve_of)) {
    list.push_back(
        {{"id", chart.id}, {"title", chart.title}, {"text", chart.text}, {"spec", chart.spec}});
  }
  return list;
}

}  // namespace

LiveRuns::LiveRuns(KnownRuns known) : known_(std::move(known)), thread_([this] { work(); }) {}

LiveRuns::~LiveRuns() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  asked_.notify_all();
  thread_.join();
}

// What is known is answered at once. Only before anything has been read an answer waits, shortly.
template <class F>
auto LiveRuns::when_read(F&& answer) {
  std::unique_lock lock(mutex_);
  last_asked_ = Clock::now();
  asked_.notify_all();
  read_.wait_for(lock, std::chrono::milliseconds(150), [&] { return is_read_; });
  return answer();
}

std::string LiveRuns::overview() {
  return when_read([&] {
    Json sweeps = Json::array(), models = Json::array();
    for (const auto& [name, watched] : watched_) sweeps.push_back(watched->summary);
    for (const auto& [name, unused] : models_) models.push_back(name);
    return text_of({{"is_read", is_read_},
                    {"is_whole", is_whole_},
                    {"sweeps", sweeps},
                    {"checkpoints", models}});
  });
}

std::optional<std::string> LiveRuns::sweep(const std::string& name) {
  return when_read([&]() -> std::optional<std::string> {
    const auto found = watched_.find(name);
    if (found == watched_.end()) return std::nullopt;
    return found->second->status;
  });
}

std::optional<std::string> LiveRuns::charts(const std::string& name) {
  return when_read([&]() -> std::optional<std::string> {
    const auto found = watched_.find(name);
    if (found == watched_.end()) return std::nullopt;
    if (found->second->charts.empty()) throw Unreadable(found->second->problem);
    return found->second->charts;
  });
}

std::optional<fs::path> LiveRuns::model(const std::string& name) {
  return when_read([&]() -> std::optional<fs::path> {
    const auto found = models_.find(name);
    if (found == models_.end()) return std::nullopt;
    return found->second;
  });
}

void LiveRuns::work() {
  constexpr std::chrono::seconds kEvery{2};
  constexpr double kForgotten = 30;  // seconds without a question
  while (true) {
    look();
    std::unique_lock lock(mutex_);
    is_read_ = true;
    read_.notify_all();
    asked_.wait_for(lock, kEvery, [&] { return stopping_; });
    asked_.wait(lock, [&] { return stopping_ || seconds_since(last_asked_) < kForgotten; });
    if (stopping_) return;
  }
}

void LiveRuns::look() {
  auto found = known_.look();
  {
    const std::lock_guard lock(mutex_);
    models_ = std::move(found.models);
    is_whole_ = found.is_whole;
    std::erase_if(watched_, [&](const auto& each) { return !found.sweeps.contains(each.first); });
  }
  for (const auto& [name, folder] : found.sweeps) {
    // Only this thread writes into the map.
    auto watched =
        watched_.find(name) == watched_.end() ? std::make_shared<Watched>(folder) : watched_[name];
    look_at(name, *watched);
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    watched_[name] = watched;
  }
}

void LiveRuns::look_at(const std::string& name, Watched& watched) {
  auto& sweep = watched.observer;
  Json status = {{"name", name}};
  Json summary = status;
  std::optional<std::string> charts;
  std::string told;
  try {
    if (sweep.look() || watched.version == 0) {
      charts = text_of(charts_json(sweep));
      watched.table = to_html(results_table(summarize(sweep.results())));
      ++watched.version;
    }
    Json runs = Json::array();
    for (const auto& run : sweep.runs()) runs.push_back(run_json(run));
    const auto count = [&](RunState state) {
      return std::ranges::count(sweep.runs(), state, &RunStatus::state);
    };
    summary.update({{"runs", sweep.runs().size()},
                    {"complete", count(RunState::complete)},
                    {"running", count(RunState::running)}});
    status.update({{"version", watched.version}, {"table", watched.table}, {"runs", runs}});
  } catch (const std::exception& problem) {  // a sweep that is damaged hides no other
    told = problem.what();
    status["problem"] = summary["problem"] = told;
  }
  const std::lock_guard lock(mutex_);
  watched.status = text_of(status);
  watched.summary = summary;
  watched.problem = told;
  if (charts) watched.charts = std::move(*charts);
}

}  // namespace transformer
