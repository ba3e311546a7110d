#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "common/base/stack/student_place.h"
#include "common/comm/watch/wait_graph.h"

// Layout of an event file. It consists of atomic words, because two processes access it at once. A rank's pages have
// one writer and are guarded by a sequence lock: odd while a change is being made, plus two per change. A reader that
// finds the same even number before and after has read a consistent snapshot. Words are stored with release and loaded
// with acquire, so that no word can be seen outside the change it belongs to.
namespace lab::comm::event_layout {

using Word = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 8, "shared between processes");

constexpr std::uint64_t kMagic = 0x6c61625f65766e74;  // "lab_evnt"
constexpr std::uint64_t kVersion = 5;
constexpr std::size_t kMaxOps = 512, kMaxChannels = 1024, kMaxEvents = 64;

/// A plain struct, kept as atomic words.
template <typename Record>
class Cell {
  static_assert(std::is_trivially_copyable_v<Record> && sizeof(Record) % sizeof(Word) == 0);
  static constexpr std::size_t kWords = sizeof(Record) / sizeof(Word);

 public:
  void store(const Record& record) {
    const auto* bytes = reinterpret_cast<const char*>(&record);
    for (Word& word : words_) {
      std::uint64_t plain = 0;
      std::memcpy(&plain, bytes, sizeof(plain));
      word.store(plain, std::memory_order_release);
      bytes += sizeof(plain);
    }
  }
  Record load() const {
    std::uint64_t plain[kWords];
    for (std::size_t i = 0; i < kWords; ++i) plain[i] = words_[i].load(std::memory_order_acquire);
    Record record;
    std::memcpy(&record, plain, sizeof(Record));
    return record;
  }

 private:
  Word words_[kWords];
};

/// Text truncated to its room, always zero-terminated.
template <std::size_t kRoom>
struct Text {
  char bytes[kRoom] = {};

  void set(std::string_view text) {
    const std::size_t length = text.size() < kRoom ? text.size() : kRoom - 1;
    std::memcpy(bytes, text.data(), length);
    bytes[length] = '\0';
  }
  std::string str() const { return std::string(bytes, strnlen(bytes, kRoom - 1)); }
};

struct OpRecord {
  std::uint64_t sequence, bytes;
  std::int32_t peer, tag;
  std::uint32_t group, direction;
  Text<24> operation;
  Text<16> dtype;
  std::int64_t shape[8];
  std::uint32_t num_dims;
  std::int32_t line;
  Text<48> file;
};

struct ChannelRecord {
  std::uint64_t posted;
  std::int32_t peer, tag;
  std::uint32_t group, direction;
};

enum class EventKind : std::uint32_t { kPosted, kWaiting, kCompleted };

struct EventRecord {
  std::uint64_t bytes;
  EventKind kind;
  std::uint32_t direction;
  std::int32_t peer, tag;
  std::int32_t line;
  Text<44> file;
};

struct alignas(4096) RankPages {
  Word sequence;
  Word activity;
  Word waiting_slot;   // slot + 1; 0: none
  Word slots_touched;  // slots from this one on have never been used
  Word unlisted;
  Word num_channels;
  Word channels_lost;
  Word num_events;  // ever; the last kMaxEvents are kept
  Word timeout_milliseconds;
  StudentPlace place;  // not guarded by the sequence: a signal may interrupt a change
  Cell<Text<1024>> detail;
  Cell<Text<128>> task;
  Word op_in_use[kMaxOps];
  Cell<OpRecord> ops[kMaxOps];
  Cell<ChannelRecord> channels[kMaxChannels];
  Cell<EventRecord> events[kMaxEvents];
};

/// Written once, by the first writer, and read by all: the state is stored last.
template <std::size_t kRoom>
struct Notice {
  enum State : std::uint64_t { kEmpty, kBeingWritten, kWritten };
  Word state;
  Word code;
  Cell<Text<kRoom>> text;

  void write(std::uint64_t new_code, std::string_view message) {
    std::uint64_t expected = kEmpty;
    if (!state.compare_exchange_strong(expected, kBeingWritten)) return;
    Text<kRoom> record;
    record.set(message);
    code.store(new_code, std::memory_order_release);
    text.store(record);
    state.store(kWritten, std::memory_order_release);
  }
  bool written() const { return state.load(std::memory_order_acquire) == kWritten; }
};

struct alignas(4096) ExitPage {
  Notice<512> notice;
  Word stopped_by;  // the signal; 0: it runs
};

struct alignas(4096) FileHeader {
  Word magic, version, num_ranks;
  Word of_one_machine;  // 1: ranks of other machines never write
  Notice<8000> verdict;
  Notice<16000> rank_lines;
};

}  // namespace lab::comm::event_layout
