#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

// A lock-free queue of records from one process to another, in memory that both have mapped. Internal to comm/shm.
namespace lab::comm {

/// One producer, one consumer. A record is contiguous: what does not fit before the end begins at the start again, after
/// an empty record. A producer that dies in the middle of a record leaves none.
class ShmRing {
 public:
  static constexpr std::uint64_t kBytes = 128 * 1024;
  static constexpr std::uint64_t kLongestRecord = kBytes / 2;

  /// Producer: room for a record of that many bytes, or null if there is none now. publish() hands it over.
  char* reserve(std::uint64_t num_bytes) {
    const std::uint64_t needed = record_bytes(num_bytes);
    const std::uint64_t before_end = kBytes - written_ % kBytes;
    const std::uint64_t skipped = before_end < needed ? before_end : 0;
    if (written_ + skipped + needed - tail_seen_ > kBytes) {
      tail_seen_ = tail_.load(std::memory_order_acquire);
      if (written_ + skipped + needed - tail_seen_ > kBytes) {
        wants_room_.store(1, std::memory_order_seq_cst);  // and looks again before it sleeps
        return nullptr;
      }
    }
    if (wants_room_.load(std::memory_order_relaxed) != 0) wants_room_.store(0, std::memory_order_relaxed);
    if (skipped > 0) {
      put_length(kSkip);
      written_ += skipped;
    }
    put_length(num_bytes);
    return place(written_) + kHeader;
  }
  void publish(std::uint64_t num_bytes) {
    written_ += record_bytes(num_bytes);
    head_.store(written_, std::memory_order_release);
  }

  /// Whether there is more room than when reserve() found none.
  bool has_more_room() const { return tail_.load(std::memory_order_acquire) != tail_seen_; }

  struct Record {
    const char* bytes = nullptr;  ///< null: there is none
    std::uint64_t size = 0;
  };
  /// Consumer: the next record, which stays where it is until pop().
  Record front() {
    for (;;) {
      if (read_ == head_seen_ && read_ == (head_seen_ = head_.load(std::memory_order_acquire))) return {};
      std::uint64_t length = 0;
      std::memcpy(&length, place(read_), sizeof(length));
      if (length != kSkip) return {place(read_) + kHeader, length};
      read_ += kBytes - read_ % kBytes;
    }
  }
  bool is_empty() const { return read_ == head_.load(std::memory_order_acquire); }
  void pop(const Record& record) {
    read_ += record_bytes(record.size);
    tail_.store(read_, std::memory_order_release);
  }
  /// Consumer, after pop(): whether the producer waits for room and has to be woken. It does until it has found enough:
  /// what it has been told of may be what it has already seen.
  bool is_short_of_room() const {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return wants_room_.load(std::memory_order_relaxed) != 0;
  }

 private:
  static constexpr std::uint64_t kHeader = 16;  // the length; keeps payloads aligned
  static constexpr std::uint64_t kSkip = ~std::uint64_t{0};

  static std::uint64_t record_bytes(std::uint64_t num_bytes) { return (kHeader + num_bytes + 15) / 16 * 16; }
  char* place(std::uint64_t position) { return bytes_ + position % kBytes; }
  void put_length(std::uint64_t length) { std::memcpy(place(written_), &length, sizeof(length)); }

  alignas(64) std::atomic<std::uint64_t> head_{0};  ///< bytes written so far, by the producer
  std::atomic<std::uint32_t> wants_room_{0};
  std::uint64_t written_ = 0, tail_seen_ = 0;       ///< the producer's own
  alignas(64) std::atomic<std::uint64_t> tail_{0};  ///< bytes read so far, by the consumer
  std::uint64_t read_ = 0, head_seen_ = 0;          ///< the consumer's own
  alignas(64) char bytes_[kBytes];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "shared between processes");

}  // namespace lab::comm

namespace lab::comm {

/// In memory that several processes have mapped: one sleeps on it, the others wake it. Nothing is lost that was written
/// before ring(): the sleeper looks once more after it has said that it sleeps.
class Doorbell {
 public:
  /// Any process or thread, after it has written what the owner waits for.
  void ring() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_relaxed) == 0 || asleep_.exchange(0) == 0) return;
    rings_.fetch_add(1, std::memory_order_release);
    futex(FUTEX_WAKE, 1);
  }

  /// The owner: sleeps until the next ring, unless `ready()` is true by then.
  template <typename Ready>
  void sleep_unless(const Ready& ready) {
    const std::uint32_t seen = rings_.load(std::memory_order_acquire);
    asleep_.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!ready()) futex(FUTEX_WAIT, seen);
    asleep_.store(0, std::memory_order_relaxed);
  }

 private:
  void futex(int operation, std::uint32_t value) {
    ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&rings_), operation, value, nullptr, nullptr, 0);
  }

  alignas(64) std::atomic<std::uint32_t> rings_{0};
  std::atomic<std::uint32_t> asleep_{0};
};

/// Memory that the processes of one host have mapped: a doorbell for each, and a ring from each to each. It has no name
/// in any file system: whoever makes it tells the others its process and descriptor, and it is gone with the last of
/// them.
class ShmSegment {
 public:
  /// `num_members`: the most processes that will use it; pages that are never written take no memory.
  /// Errors    UsageError: the kernel makes no such file
  static std::unique_ptr<ShmSegment> create(int num_members);
  /// Maps one that another process made. Null: that is not permitted, or the process is gone.
  static std::unique_ptr<ShmSegment> open(long process, int descriptor, int num_members);
  ~ShmSegment();
  ShmSegment(const ShmSegment&) = delete;
  ShmSegment& operator=(const ShmSegment&) = delete;

  int descriptor() const { return descriptor_; }
  Doorbell& doorbell(int member);
  ShmRing& ring(int from, int to);

 private:
  ShmSegment(int descriptor, int num_members, void* memory)
      : descriptor_(descriptor), num_members_(num_members), memory_(memory) {}
  static std::unique_ptr<ShmSegment> map(int descriptor, int num_members);

  int descriptor_;
  int num_members_;
  void* memory_;
};

}  // namespace lab::comm
