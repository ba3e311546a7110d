#include "common/comm/watch/rank_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_map>

namespace lab::comm {
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

// The hot path's lookup tables (free slots, channels by key) are kept here, in the rank's own memory.
class Writer final : public RankEvents {
 public:
  Writer(std::shared_ptr<void> file, RankPages& pages)
      : file_(std::move(file)), pages_(pages), free_slots_(kMaxOps), slot_events_(kMaxOps) {
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

  int posted(const PostedOpView& op) override {
    OpRecord record{};
    record.bytes = op.bytes;
    record.peer = op.peer;
    record.tag = op.tag;
    record.group = op.group;
    record.direction = static_cast<std::uint32_t>(op.direction);
    record.operation.set(op.operation);
    record.dtype.set(op.dtype);
    record.num_dims = static_cast<std::uint32_t>(std::min(op.num_dims, std::size(record.shape)));
    std::copy_n(op.shape, record.num_dims, record.shape);
    record.line = op.where.line;
    const std::string_view file = op.where.file_name();
    record.file.set(file);
    Change change(pages_.sequence);
    record.sequence = count(op);
    EventRecord event{record.bytes, EventKind::kPosted, record.direction, record.peer, record.tag, record.line, {}};
    event.file.set(file);
    note(event);
    if (free_slots_.empty()) {
      add(pages_.unlisted, 1);
      return -1;
    }
    const int slot = free_slots_.back();
    free_slots_.pop_back();
    const auto index = static_cast<std::size_t>(slot);
    slot_events_[index] = event;
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
    note(EventKind::kCompleted, index);
    pages_.op_in_use[index].store(0, std::memory_order_release);
    free_slots_.push_back(slot);
  }

  void waiting(int slot) override {
    Change change(pages_.sequence);
    if (slot >= 0) note(EventKind::kWaiting, static_cast<std::size_t>(slot));
    enter(RankActivity::kWaiting, static_cast<std::uint64_t>(slot + 1));
  }

  void resumed() override {
    Change change(pages_.sequence);
    enter(RankActivity::kRunning, 0);
  }

  StudentPlace& place() override { return pages_.place; }

 private:
  static void add(Word& word, std::int64_t by) {
    word.store(word.load(std::memory_order_relaxed) + static_cast<std::uint64_t>(by), std::memory_order_release);
  }

  void enter(RankActivity activity, std::uint64_t waiting_slot) {
    pages_.activity.store(static_cast<std::uint64_t>(activity), std::memory_order_release);
    pages_.waiting_slot.store(waiting_slot, std::memory_order_release);
  }

  // Counts the message on its channel and returns its number there.
  std::uint64_t count(const Channel& op) {
    const auto [entry, is_new] = channels_.try_emplace(op, Count{channels_.size(), 0});
    Count& channel = entry->second;
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

  void note(EventKind kind, std::size_t slot) {
    slot_events_[slot].kind = kind;
    note(slot_events_[slot]);
  }

  void note(const EventRecord& event) {
    pages_.events[num_events_ % kMaxEvents].store(event);
    pages_.num_events.store(++num_events_, std::memory_order_release);
  }

  struct Count {
    std::size_t index;
    std::uint64_t posted;
  };

  std::shared_ptr<void> file_;
  RankPages& pages_;
  std::vector<int> free_slots_;
  std::vector<EventRecord> slot_events_;  // the last of the message in each slot
  std::unordered_map<Channel, Count, ChannelHash> channels_;
  std::size_t slots_touched_ = 0;
  std::uint64_t num_events_ = 0;
};

constexpr int kMaxAttempts = 64;

std::size_t load(const Word& word, std::size_t max) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(word.load(std::memory_order_acquire), max));
}

PostedOp posted_op(const OpRecord& record) {
  const std::string operation = record.operation.str(), dtype = record.dtype.str(), file = record.file.str();
  const std::size_t num_dims = std::min<std::size_t>(record.num_dims, std::size(record.shape));
  const PostedOpView op{{static_cast<Direction>(record.direction), record.peer, record.group, record.tag},
                        record.bytes,
                        operation,
                        dtype,
                        record.shape,
                        num_dims,
                        {file.c_str(), record.line}};
  return op.op(record.sequence);
}

// Copies whatever is there; the caller checks whether the snapshot is consistent.
RankState copy_rank(const RankPages& pages) {
  RankState state;
  state.activity = static_cast<RankActivity>(load(pages.activity, static_cast<std::size_t>(RankActivity::kFailed)));
  if (state.activity == RankActivity::kCollective || state.activity == RankActivity::kFailed)
    state.detail = pages.detail.load().str();
  state.task = pages.task.load().str();
  state.unlisted = pages.unlisted.load(std::memory_order_acquire);
  state.complete = pages.channels_lost.load(std::memory_order_acquire) == 0;
  const std::size_t waiting_slot = load(pages.waiting_slot, kMaxOps);
  const std::size_t slots_touched = load(pages.slots_touched, kMaxOps);
  for (std::size_t slot = 0; slot < slots_touched; ++slot) {
    if (pages.op_in_use[slot].load(std::memory_order_acquire) == 0) continue;
    if (slot + 1 == waiting_slot) state.waiting_for = state.posted.size();
    state.posted.push_back(posted_op(pages.ops[slot].load()));
  }
  const std::size_t num_channels = load(pages.num_channels, kMaxChannels);
  state.channels.reserve(num_channels);
  for (std::size_t i = 0; i < num_channels; ++i) {
    const ChannelRecord record = pages.channels[i].load();
    state.channels.push_back(
        {{static_cast<Direction>(record.direction), record.peer, record.group, record.tag}, record.posted});
  }
  return state;
}

}  // namespace

std::unique_ptr<RankEvents> make_rank_events(std::shared_ptr<void> file, RankPages& pages) {
  return std::make_unique<Writer>(std::move(file), pages);
}

RankState read_rank(const RankPages& pages, std::uint64_t* num_changes) {
  RankState state;
  std::uint64_t before = 0;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    before = pages.sequence.load(std::memory_order_acquire);
    const bool between_changes = before % 2 == 0;
    if (!between_changes && attempt + 1 < kMaxAttempts) continue;
    state = copy_rank(pages);
    if (between_changes && pages.sequence.load(std::memory_order_relaxed) == before) {
      if (num_changes != nullptr) *num_changes = before;
      return state;
    }
  }
  state.complete = false;
  state.waiting_for.reset();
  if (num_changes != nullptr) *num_changes = before;
  return state;
}

std::vector<std::string> read_last_events(const RankPages& pages) {
  std::vector<std::string> lines;
  const std::uint64_t end = pages.num_events.load(std::memory_order_acquire);
  for (std::uint64_t i = end > kMaxEvents ? end - kMaxEvents : 0; i < end; ++i) {
    const EventRecord event = pages.events[i % kMaxEvents].load();
    const bool send = event.direction == static_cast<std::uint32_t>(Direction::kSend);
    const char* kind = event.kind == EventKind::kPosted    ? "posted"
                       : event.kind == EventKind::kWaiting ? "waits for"
                                                           : "completed";
    const std::string file = event.file.str();
    lines.push_back(fmt::format("{} {} of {} {} rank {}, tag {} ({})", kind, send ? "send" : "recv",
                                describe_bytes(event.bytes), send ? "to" : "from", event.peer, event.tag,
                                SourceLine{file.c_str(), event.line}.text()));
  }
  return lines;
}

}  // namespace lab::comm
