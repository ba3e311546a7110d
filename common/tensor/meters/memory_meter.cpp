#include "common/tensor/meters/memory_meter.h"

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>

namespace lab {

/// What one owner of memory holds. It lives as long as its scope, its blocks and the accounts inside it, whichever is
/// last: a tensor may outlive the scope that it was created in, and be freed on any thread. Reference-counted by hand,
/// because a block's header has room for only one pointer and its destructor is never called.
class MemoryAccount {
 public:
  /// Starts with one holder, the caller. Whatever is charged here is charged to `outer` too.
  MemoryAccount(MemoryAccount* outer, int64_t most_bytes, bool spoils);
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  void hold() { holders_.fetch_add(1, std::memory_order_relaxed); }
  void let_go();

  /// Errors    MemoryLimitError: more than this account, or one around it, may hold
  void require_room(int64_t bytes) const;
  void charge(int64_t bytes);
  void refund(int64_t bytes);

  int64_t current_bytes() const { return current_bytes_.load(std::memory_order_relaxed); }
  int64_t peak_bytes() const { return peak_bytes_.load(std::memory_order_relaxed); }
  bool spoils() const { return spoils_; }
  void reset_peak() { peak_bytes_.store(current_bytes(), std::memory_order_relaxed); }

 private:
  ~MemoryAccount() = default;

  MemoryAccount* const outer_;
  const int64_t most_bytes_;
  const bool spoils_;
  std::atomic<int64_t> holders_{1};
  std::atomic<int64_t> current_bytes_{0};
  std::atomic<int64_t> peak_bytes_{0};
};

MemoryAccount::MemoryAccount(MemoryAccount* outer, int64_t most_bytes, bool spoils)
    : outer_(outer), most_bytes_(most_bytes), spoils_(spoils || (outer != nullptr && outer->spoils())) {
  if (outer_ != nullptr) outer_->hold();
}

void MemoryAccount::let_go() {
  MemoryAccount* account = this;
  while (account != nullptr && account->holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    MemoryAccount* const outer = account->outer_;
    delete account;
    account = outer;
  }
}

void MemoryAccount::require_room(int64_t bytes) const {
  constexpr double kMegabyte = 1e6;
  for (const MemoryAccount* account = this; account != nullptr; account = account->outer_) {
    const int64_t held = account->current_bytes();
    if (bytes <= account->most_bytes_ - held) continue;
    throw MemoryLimitError(
        fmt::format("cannot allocate {:.1f} MB: {:.1f} MB of tensors are held, at most {:.1f} MB may be",
                    static_cast<double>(bytes) / kMegabyte, static_cast<double>(held) / kMegabyte,
                    static_cast<double>(account->most_bytes_) / kMegabyte));
  }
}

void MemoryAccount::charge(int64_t bytes) {
  for (MemoryAccount* account = this; account != nullptr; account = account->outer_) {
    const int64_t now = account->current_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    int64_t peak = account->peak_bytes();
    while (peak < now && !account->peak_bytes_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
  }
}

void MemoryAccount::refund(int64_t bytes) {
  for (MemoryAccount* account = this; account != nullptr; account = account->outer_) {
    account->current_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  }
}

namespace {

/// Precedes every block, so that freeing it knows what to refund and to whom.
struct BlockHeader {
  int64_t bytes;
  MemoryAccount* owner;  // null: allocated outside any scope
  void* start;           // what malloc gave
};

constexpr size_t kHeaderBytes = 64;
static_assert(sizeof(BlockHeader) <= kHeaderBytes, "the header must fit in front of a block");
constexpr size_t kAlignment = 64;  // LibTorch's own; the constant's name and header differ between its versions
static_assert(kHeaderBytes % kAlignment == 0, "a block must be as aligned as LibTorch's own");

thread_local MemoryAccount* owner_of_this_thread = nullptr;

std::atomic<bool> installed{false};

/// The header's place: malloc's block, aligned by hand. LibTorch's own allocator calls posix_memalign(), which in glibc
/// before 2.38 does not reuse a freed block of exactly the requested size: every small block that is left in such a gap
/// makes the heap grow, by hundreds of megabytes in a pipeline of some thousand micro-batches.
char* aligned(void* start) {
  const auto place = reinterpret_cast<std::uintptr_t>(start);
  return static_cast<char*>(start) + (kAlignment - place % kAlignment) % kAlignment;
}

void free_block(void* data) {
  if (data == nullptr) return;
  char* block = static_cast<char*>(data) - kHeaderBytes;
  const BlockHeader header = *std::launder(reinterpret_cast<BlockHeader*>(block));
  if (header.owner != nullptr) {
    header.owner->refund(header.bytes);
    header.owner->let_go();
  }
  std::free(header.start);
}

c10::DataPtr allocate_block(size_t bytes) {
  // The context equals the data pointer: raw_allocate, which oneDNN's convolutions use, requires it.
  if (bytes == 0) return {nullptr, nullptr, &free_block, at::Device(at::kCPU)};
  if (owner_of_this_thread != nullptr && bytes <= std::numeric_limits<int64_t>::max())
    owner_of_this_thread->require_room(static_cast<int64_t>(bytes));
  constexpr size_t kMoreBytes = kHeaderBytes + kAlignment;
  constexpr size_t kMostBytes = std::numeric_limits<std::ptrdiff_t>::max() - kMoreBytes;  // malloc's own limit
  void* start = bytes <= kMostBytes ? std::malloc(bytes + kMoreBytes) : nullptr;
  TORCH_CHECK(start != nullptr, "can't allocate memory: you tried to allocate ", bytes, " bytes");
  char* block = aligned(start);
  const auto* header = new (block) BlockHeader{static_cast<int64_t>(bytes), owner_of_this_thread, start};
  if (header->owner != nullptr) {
    header->owner->hold();
    header->owner->charge(header->bytes);
  }
  void* data = block + kHeaderBytes;
  if (header->owner != nullptr && header->owner->spoils()) std::memset(data, kGarbageByte, bytes);
  return {data, data, &free_block, at::Device(at::kCPU)};
}

/// The base class declares `allocate` const in LibTorch 1 and non-const in LibTorch 2, which also declares copy_data.
/// Both are here, so whichever the base declares is overridden; hence no `override`.
// NOLINTBEGIN(modernize-use-override)
struct MeteredAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) const { return allocate_block(bytes); }
  c10::DataPtr allocate(size_t bytes) { return allocate_block(bytes); }
  c10::DeleterFnPtr raw_deleter() const { return &free_block; }
  void copy_data(void* destination, const void* source, std::size_t bytes) const {
    std::memcpy(destination, source, bytes);
  }
};
// NOLINTEND(modernize-use-override)

MemoryAccount* open_account(MemoryAccount* outer, int64_t most_bytes, bool spoils) {
  if (!installed.load(std::memory_order_acquire)) {
    throw ContractError("A MemoryScope counts nothing before install_memory_meter() was called.");
  }
  return new MemoryAccount(outer, most_bytes, spoils);
}

}  // namespace

void install_memory_meter() {
  static std::once_flag once;
  std::call_once(once, [] {
    static auto* const meter = new MeteredAllocator;  // outlives every tensor, static ones too
    c10::SetCPUAllocator(meter, 10);
    installed.store(true, std::memory_order_release);
  });
}

MemoryAccount* memory_owner() {
  return owner_of_this_thread;
}

void set_memory_owner(MemoryAccount* owner) {
  owner_of_this_thread = owner;
}

MemoryScope::MemoryScope(std::int64_t most_bytes, Fresh fresh)
    : outer_(owner_of_this_thread), account_(open_account(outer_, most_bytes, fresh == Fresh::kGarbage)) {
  owner_of_this_thread = account_;
}

MemoryScope::~MemoryScope() {
  owner_of_this_thread = outer_;
  account_->let_go();
}

MemoryUse MemoryScope::reading() const {
  return {account_->peak_bytes(), account_->current_bytes()};
}

void MemoryScope::reset_peak() {
  account_->reset_peak();
}

}  // namespace lab
