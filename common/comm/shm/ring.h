#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

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
