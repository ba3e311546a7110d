#include <fmt/format.h>

#include <algorithm>

#include "common/comm/watch/rank_events.h"

namespace lab {
namespace {

using namespace event_layout;

constexpr int kMaxAttempts = 64;

std::size_t load(const Word& word, std::size_t max) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(word.load(std::memory_order_acquire), max));
}

PostedOp posted_op(const OpRecord& record) {
  return {static_cast<Direction>(record.direction),
          record.peer,
          record.group,
          record.tag,
          record.sequence,
          record.bytes,
          record.operation.str(),
          record.contract.str(),
          record.where.str()};
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
        {static_cast<Direction>(record.direction), record.peer, record.group, record.tag, record.posted});
  }
  return state;
}

}  // namespace

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
    const std::string where = event.where.str();
    lines.push_back(fmt::format("{} {} of {} {} rank {}, tag {}{}", kind, send ? "send" : "recv",
                                describe_bytes(event.bytes), send ? "to" : "from", event.peer, event.tag,
                                where.empty() ? "" : " (" + where + ")"));
  }
  return lines;
}

}  // namespace lab
