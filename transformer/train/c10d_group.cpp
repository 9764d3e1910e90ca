#include "transformer/error.h"
#include "transformer/train/ranks_group.h"

#ifdef TRANSFORMER_C10D
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#ifdef USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif
#include <torch/torch.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "transformer/train/own_address.h"
#include "transformer/train/roll_call.h"

namespace transformer {

namespace {

using std::chrono::milliseconds;

constexpr size_t kBucketBytes = 25 << 20;      // PyTorch's own defaults
constexpr size_t kFirstBucketBytes = 1 << 20;  // its sum can begin early

constexpr int kFatal = 3;  // of c10's logging

// A connection to the store where the ranks meet.
c10::intrusive_ptr<c10d::Store> store_at(const Rendezvous& place, milliseconds timeout,
                                         bool is_server) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(place.port);
  options.isServer = is_server;
  options.waitWorkers = false;
  options.timeout = timeout;
  return c10::make_intrusive<c10d::PrefixStore>(
      "transformer/" + place.attempt, c10::make_intrusive<c10d::TCPStore>(place.address, options));
}

// Rank 0's own store is reached though no network is left.
Rendezvous seen_from_here(Rendezvous place) {
  if (place.rank == 0 && !place.served) place.address = "127.0.0.1";
  return place;
}

// GLOO_SOCKET_IFNAME, as PyTorch has it, names the network interface where there are several.
std::shared_ptr<gloo::transport::Device> gloo_device(const Rendezvous& place) {
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (interface != nullptr && *interface != '\0') {
    return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  }
  return c10d::ProcessGroupGloo::createDeviceForHostname(own_address(place));
}

// Sums a bucket. The Reducer's own way would divide by the number of ranks: here the loss is
// already a mean over what all of them have.
class SumOfBucket : public c10d::CppCommHookInterface<c10::intrusive_ptr<c10d::ProcessGroup>> {
 public:
  using CppCommHookInterface::CppCommHookInterface;
  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    std::vector<at::Tensor> tensors = {bucket.getBufferRef()};
    return state_->allreduce(tensors)->getFuture();
  }
};

// Writing to a rank that is gone is an error that tells which, and not this process' end: c10d's
// sockets leave the signal on, and Python, which they are made for, ignores it. A handler that
// somebody has set stays.
Rendezvous without_broken_pipes(const Rendezvous& place) {
  struct sigaction action {};
  if (sigaction(SIGPIPE, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) {
    std::signal(SIGPIPE, SIG_IGN);
  }
  return place;
}

class C10dGroup : public RanksGroup {
 public:
  C10dGroup(const Rendezvous& place, const torch::Device& device, milliseconds timeout,
            const OnLost& on_lost)
      : place_(without_broken_pipes(place)),
        store_(meeting_place(place, timeout)),
        roll_(store_at(seen_from_here(place), timeout, false), place.rank, place.ranks, timeout,
              on_lost) {
    expect_reachable();
    try {
      connect_all(device, timeout);
    } catch (const std::exception& error) {
      roll_.find_lost();
      throw Failure("rank " + std::to_string(place.rank) +
                    " cannot connect to the others: " + error.what());
    }
  }

  int64_t rank() const override { return place_.rank; }
  int64_t size() const override { return place_.ranks; }
  void at_step(int64_t step) override { roll_.at_step(step); }
  void meet() override { roll_.meet(); }
  void leave() override {
    roll_.leave();
    reducer_.reset();
  }

  std::string word_of_first(const std::string& text) override {
    const std::string key = "word/" + std::to_string(words_++);
    if (rank() == 0) {
      roll_.say(key, text);
      return text;
    }
    return roll_.hear({key}).front();
  }

  void take_from_first(std::vector<torch::Tensor> tensors) override {
    torch::NoGradGuard no_gradient;
    together([&] { c10d::broadcast_coalesced(group_, tensors, kBucketBytes, 0); });
  }

  void sum(torch::Tensor& values) override {
    std::vector<torch::Tensor> tensors = {values};
    together([&] { group_->allreduce(tensors)->wait(); });
  }

  // Gradients come about in the reverse of the order in which a forward pass uses the parameters,
  // and that is the order in which they are registered. The buckets are laid out by it for good:
  // those that the Reducer would lay out anew after its first step would change the rounding of
  // sums, and a resumed run would not be the unbroken one.
  void share_gradients(const std::vector<torch::Tensor>& parameters) override {
    const std::vector<torch::Tensor> last_first(parameters.rbegin(), parameters.rend());
    const std::vector<bool> dense(last_first.size(), false);
    const auto buckets = std::get<0>(c10d::compute_bucket_assignment_by_size(
        last_first, {kFirstBucketBytes, kBucketBytes}, dense));
    together([&] {
      reducer_ = std::make_unique<c10d::Reducer>(
          last_first, buckets, group_, dense, kBucketBytes, /*find_unused_parameters=*/false,
          /*gradient_as_bucket_view=*/true, std::unordered_map<size_t, std::string>(),
          kFirstBucketBytes, /*skip_all_reduce_unused_params=*/false,
          /*use_python_reducer=*/false, std::vector<int64_t>());
      reducer_->register_comm_hook(std::make_unique<SumOfBucket>(group_));
      reducer_->push_rebuilt_params_for_all_indices();
      reducer_->rebuild_buckets();
    });
  }

  void backward(const torch::Tensor& loss, bool is_last) override {
    if (!is_last || !reducer_) return loss.backward();
    reducer_->prepare_for_backward({});
    together([&] { loss.backward(); });
  }

 private:
  // Runs an operation that all ranks have part in; where it fails, says for which of them.
  template <class Operation>
  void together(const Operation& operation) {
    roll_.begins_collective();
    try {
      operation();
    } catch (const std::exception&) {
      roll_.find_lost();
      throw;  // not for want of a rank
    }
  }

  static c10::intrusive_ptr<c10d::Store> meeting_place(const Rendezvous& place,
                                                       milliseconds timeout) {
    try {
      return store_at(place, timeout, place.rank == 0 && !place.served);
    } catch (const std::exception& error) {
      const std::string at = place.address + ", port " + std::to_string(place.port);
      throw Failure(place.rank == 0 && !place.served
                        ? "rank 0 cannot wait for the others at " + at +
                              "; is the port in use, or MASTER_ADDR another machine's?"
                        : "rank " + std::to_string(place.rank) + " cannot reach rank 0 at " + at);
    }
  }

  // Gloo would wait in vain for a rank that is told to be found at 127.0.0.1 from elsewhere.
  void expect_reachable() {
    const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
    const bool is_named = interface != nullptr && *interface != '\0';
    const std::string own = is_named ? interface : own_address(place_);
    std::vector<std::string> keys;
    for (int64_t r = 0; r < size(); ++r) keys.push_back("address/" + std::to_string(r));
    roll_.say(keys[static_cast<size_t>(rank())], own);
    const auto all = roll_.hear(keys);
    const auto elsewhere = std::ranges::find_if_not(all, is_loopback);
    const auto here = std::ranges::find_if(all, is_loopback);
    if (here == all.end() || elsewhere == all.end()) return;
    const auto number = [&](auto found) { return std::to_string(found - all.begin()); };
    throw Failure("rank " + number(here) + " would be looked for at " + *here + ", where rank " +
                  number(elsewhere) + " (" + *elsewhere +
                  ") cannot find it: set MASTER_ADDR to an address of rank 0's machine that the "
                  "others reach, or GLOO_SOCKET_IFNAME to the network interface");
  }

  void connect_all(const torch::Device& device, milliseconds timeout) {
    const auto rank = static_cast<int>(place_.rank);
    const auto size = static_cast<int>(place_.ranks);
    const auto options = c10d::ProcessGroupGloo::Options::create(timeout);
    options->devices.push_back(gloo_device(place_));
    const auto gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(
        c10::make_intrusive<c10d::PrefixStore>("gloo", store_), rank, size, options);
    group_ = c10::make_intrusive<c10d::ProcessGroup>(store_, rank, size);
    group_->setDefaultBackend(c10d::ProcessGroup::BackendType::GLOO);
    group_->setBackend(torch::kCPU, c10d::ProcessGroup::BackendType::GLOO, gloo);
    if (device.is_cpu()) return;
#ifdef USE_C10D_NCCL
    const auto nccl_options = c10d::ProcessGroupNCCL::Options::create();
    nccl_options->timeout = timeout;
    const auto nccl = c10::make_intrusive<c10d::ProcessGroupNCCL>(
        c10::make_intrusive<c10d::PrefixStore>("nccl", store_), rank, size, nccl_options);
    group_->setBackend(torch::kCUDA, c10d::ProcessGroup::BackendType::NCCL, nccl);
#else
    group_->setBackend(torch::kCUDA, c10d::ProcessGroup::BackendType::GLOO, gloo);
#endif
  }

  const Rendezvous place_;
  c10::intrusive_ptr<c10d::Store> store_;  // of rank 0 it is the server too
  RollCall roll_;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  std::unique_ptr<c10d::Reducer> reducer_;
  int64_t words_ = 0;
};

}  // namespace

std::unique_ptr<RanksGroup> connect_ranks(const Rendezvous& place, const torch::Device& device,
                                          milliseconds timeout, const OnLost& on_lost) {
  // c10d warns, with all frames of the stack, of what is told here in a line.
  if (std::getenv("TORCH_CPP_LOG_LEVEL") == nullptr) FLAGS_caffe2_log_level = kFatal;
  return std::make_unique<C10dGroup>(place, device, timeout, on_lost);
}

}  // namespace transformer

#else

namespace transformer {

std::unique_ptr<RanksGroup> connect_ranks(const Rendezvous&, const torch::Device&,
                                          std::chrono::milliseconds, const OnLost&) {
  throw UserError(
      "WORLD_SIZE: this program was built without data parallel training, for want of Gloo's "
      "headers: install them (Debian: libgloo-dev) and build again");
}

}  // namespace transformer

#endif
