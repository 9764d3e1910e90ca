#include "transformer/nn/kernels/cached_memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/alignment.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>
#include <unordered_map>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace transformer {

namespace {

// Sizes are rounded up to one of eight steps between powers of two, so that batches of like size
// use the same blocks; at most an eighth is wasted.
size_t rounded(size_t bytes) {
  constexpr size_t kLeast = 1024;
  if (bytes <= kLeast) return (bytes + c10::gAlignment - 1) / c10::gAlignment * c10::gAlignment;
  const size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

class CachedMemory final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &release, c10::kCPU};
    void* block = take(rounded(bytes));
    return {block, block, &release, c10::kCPU};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, size_t count) const override {
    default_copy_data(to, from, count);
  }

  static CachedMemory& instance() {
    // Never destroyed: tensors of other statics may outlive any order of ends.
    static auto* const memory = new CachedMemory;
    return *memory;
  }

 private:
  void* take(size_t size) {
    {
      const std::lock_guard lock(mutex_);
      // A block somewhat too large does as well: batches are never quite of one size.
      const auto found = free_.lower_bound(size);
      if (found != free_.end() && found->first <= size + size / 2) {
        void* block = found->second;
        use(found->first);
        kept_ -= found->first;
        free_.erase(found);
        return block;
      }
      use(size);
      // What is kept for other sizes gives way before the process grows far beyond what it needs.
      if (used_ + kept_ > most_used_ + most_used_ / 2) give_back();
    }
    void* block = fresh(size);
    const std::lock_guard lock(mutex_);
    if (block == nullptr) {  // not while memory lies here that nobody uses
      give_back();
      block = fresh(size);
    }
    if (block == nullptr) {
      used_ -= size;
      TORCH_CHECK_WITH(OutOfMemoryError, false, "memory: ", size, " bytes more cannot be had");
    }
    sizes_[block] = size;
    return block;
  }

  void use(size_t size) {
    used_ += size;
    most_used_ = std::max(most_used_, used_);
  }

  // Null where there is none.
  static void* fresh(size_t size) {
    constexpr size_t kHugePage = size_t{2} << 20;
    const bool is_large = size >= 2 * kHugePage;
    const size_t alignment = is_large ? kHugePage : c10::gAlignment;
    void* block = nullptr;
    if (posix_memalign(&block, alignment, size) != 0) return nullptr;
#if defined(__linux__)
    if (is_large) madvise(block, size, MADV_HUGEPAGE);
#endif
    return block;
  }

  void give_back() {
    for (const auto& [size, block] : free_) {
      sizes_.erase(block);
      std::free(block);
    }
    free_.clear();
    kept_ = 0;
  }

  static void release(void* block) {
    if (block == nullptr) return;
    auto& memory = instance();
    const std::lock_guard lock(memory.mutex_);
    const size_t size = memory.sizes_.at(block);
    memory.free_.emplace(size, block);
    memory.kept_ += size;
    memory.used_ -= size;
  }

  std::mutex mutex_;
  std::multimap<size_t, void*> free_;        // by size
  std::unordered_map<void*, size_t> sizes_;  // of every block
  size_t used_ = 0;
  size_t kept_ = 0;
  size_t most_used_ = 0;
};

bool is_wanted() {
#if defined(__SANITIZE_ADDRESS__)
  return false;
#else
  const char* wish = std::getenv("TRANSFORMER_CACHED_MEMORY");
  return wish == nullptr || std::string_view(wish) != "0";
#endif
}

}  // namespace

void use_cached_memory() {
  constexpr uint8_t kPriority = 1;  // above LibTorch's own
  if (is_wanted()) c10::SetAllocator(c10::kCPU, &CachedMemory::instance(), kPriority);
}

}  // namespace transformer
