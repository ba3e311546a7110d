#include <functional>
#include <numeric>
#include <unordered_map>

#include "common/comm/watch/rank_events.h"

namespace lab {
namespace {

using namespace event_layout;

// Keeps the sequence odd while it lives.
class Change {
 public:
  explicit Change(Word& sequence) : sequence_(sequence), before_(sequence.load(std::memory_order_relaxed)) {
    sequence_.store(before_ + 1, std::memory_order_relaxed);
  }
  ~Change() { sequence_.store(before_ + 2, std::memory_order_release); }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  Word& sequence_;
  std::uint64_t before_;
};

struct ChannelKey {
  Direction direction;
  int peer, tag;
  std::uint32_t group;
  bool operator==(const ChannelKey& other) const {
    return direction == other.direction && peer == other.peer && tag == other.tag && group == other.group;
  }
};

struct ChannelHash {
  std::size_t operator()(const ChannelKey& key) const {
    std::uint64_t mix =
        (std::uint64_t{static_cast<std::uint32_t>(key.peer)} << 32) | static_cast<std::uint32_t>(key.tag);
    mix = (mix ^ (std::uint64_t{key.group} << 1) ^ static_cast<std::uint64_t>(key.direction)) * 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>(mix ^ (mix >> 29));
  }
};

// The hot path's lookup tables (free slots, channels by key) are kept here, in the rank's own memory.
class Writer final : public RankEvents {
 public:
  Writer(std::shared_ptr<void> file, RankPages& pages) : file_(std::move(file)), pages_(pages), free_slots_(kMaxOps) {
    std::iota(free_slots_.rbegin(), free_slots_.rend(), 0);  // the lowest slot is taken first
  }

  void set_activity(RankActivity activity, const std::string& detail) override {
    Text<1024> text;
    text.set(detail);
    Change change(pages_.sequence);
    pages_.detail.store(text);
    enter(activity, 0);
  }

  void set_task(const std::string& task) override {
    Text<128> text;
    text.set(task);
    Change change(pages_.sequence);
    pages_.task.store(text);
  }

  void set_timeout(double seconds) override {
    pages_.timeout_milliseconds.store(static_cast<std::uint64_t>(seconds * 1000), std::memory_order_release);
  }

  int posted(const PostedOp& op) override {
    OpRecord record{0, op.bytes, op.peer, op.tag, op.group, static_cast<std::uint32_t>(op.direction), {}, {}, {}};
    record.operation.set(op.operation);
    record.contract.set(op.contract);
    record.where.set(op.where);
    Change change(pages_.sequence);
    record.sequence = count(op);
    note(EventKind::kPosted, record);
    if (free_slots_.empty()) {
      add(pages_.unlisted, 1);
      return -1;
    }
    const int slot = free_slots_.back();
    free_slots_.pop_back();
    const auto index = static_cast<std::size_t>(slot);
    pages_.ops[index].store(record);
    pages_.op_in_use[index].store(1, std::memory_order_release);
    if (index >= slots_touched_) pages_.slots_touched.store(slots_touched_ = index + 1, std::memory_order_release);
    return slot;
  }

  void completed(int slot) override {
    Change change(pages_.sequence);
    if (slot < 0) {
      add(pages_.unlisted, -1);
      return;
    }
    const auto index = static_cast<std::size_t>(slot);
    note(EventKind::kCompleted, pages_.ops[index].load());
    pages_.op_in_use[index].store(0, std::memory_order_release);
    free_slots_.push_back(slot);
  }

  void waiting(int slot) override {
    Change change(pages_.sequence);
    if (slot >= 0) note(EventKind::kWaiting, pages_.ops[static_cast<std::size_t>(slot)].load());
    enter(RankActivity::kWaiting, static_cast<std::uint64_t>(slot + 1));
  }

  void resumed() override {
    Change change(pages_.sequence);
    enter(RankActivity::kRunning, 0);
  }

 private:
  static void add(Word& word, std::int64_t by) {
    word.store(word.load(std::memory_order_relaxed) + static_cast<std::uint64_t>(by), std::memory_order_release);
  }

  void enter(RankActivity activity, std::uint64_t waiting_slot) {
    pages_.activity.store(static_cast<std::uint64_t>(activity), std::memory_order_release);
    pages_.waiting_slot.store(waiting_slot, std::memory_order_release);
  }

  // Counts the message on its channel and returns its number there.
  std::uint64_t count(const PostedOp& op) {
    const auto [entry, is_new] =
        channels_.try_emplace({op.direction, op.peer, op.tag, op.group}, Channel{channels_.size(), 0});
    Channel& channel = entry->second;
    const std::uint64_t sequence = channel.posted++;
    if (channel.index >= kMaxChannels) {
      pages_.channels_lost.store(1, std::memory_order_release);
      return sequence;
    }
    pages_.channels[channel.index].store(
        {channel.posted, op.peer, op.tag, op.group, static_cast<std::uint32_t>(op.direction)});
    if (is_new) pages_.num_channels.store(channel.index + 1, std::memory_order_release);
    return sequence;
  }

  void note(EventKind kind, const OpRecord& op) {
    EventRecord event{op.bytes, kind, op.direction, op.peer, op.tag, {}};
    static_assert(sizeof(event.where) < sizeof(op.where));
    std::memcpy(event.where.bytes, op.where.bytes, sizeof(event.where.bytes) - 1);
    pages_.events[num_events_ % kMaxEvents].store(event);
    pages_.num_events.store(++num_events_, std::memory_order_release);
  }

  struct Channel {
    std::size_t index;
    std::uint64_t posted;
  };

  std::shared_ptr<void> file_;
  RankPages& pages_;
  std::vector<int> free_slots_;
  std::unordered_map<ChannelKey, Channel, ChannelHash> channels_;
  std::size_t slots_touched_ = 0;
  std::uint64_t num_events_ = 0;
};

}  // namespace

std::unique_ptr<RankEvents> make_rank_events(std::shared_ptr<void> file, RankPages& pages) {
  return std::make_unique<Writer>(std::move(file), pages);
}

}  // namespace lab
