#include <fmt/format.h>

#include "common/base/signal_name.h"
#include "common/comm/watch/wait_graph.h"

namespace lab {
namespace {

constexpr std::size_t kMaxListed = 4;

std::string in_parentheses(const std::string& where) {
  return where.empty() ? "" : fmt::format(" ({})", where);
}

// " in all_reduce" for a message of a collective; empty for plain messages.
std::string inside(const std::string& operation) {
  for (const char* plain : {"", "send", "recv", "isend", "irecv"}) {
    if (operation == plain) return "";
  }
  return " in " + operation;
}

std::string describe_posted(const PostedOp& op) {
  const bool send = op.direction == Direction::kSend;
  return fmt::format("{} of {} {} rank {}, tag {}{}{}", send ? "send" : "recv", describe_bytes(op.bytes),
                     send ? "to" : "from", op.peer, op.tag, inside(op.operation), in_parentheses(op.where));
}

std::string describe_activity(const RankState& state) {
  switch (state.activity) {
    case RankActivity::kStarting: return "has not joined yet";
    case RankActivity::kRunning: return "computes";
    case RankActivity::kWaiting:
      return state.waiting_for && *state.waiting_for < state.posted.size()
                 ? describe_wait(state.posted[*state.waiting_for])
                 : "waits";
    case RankActivity::kCollective:
      return state.detail.empty() ? "is inside a collective" : "is inside " + state.detail;
    case RankActivity::kFinished: return "has already returned";
    case RankActivity::kFailed: return state.detail.empty() ? "failed" : "failed: " + state.detail;
  }
  return "is in an unknown state";
}

}  // namespace

std::string describe_wait(const PostedOp& op) {
  const bool send = op.direction == Direction::kSend;
  return fmt::format("waits to {} {} {} rank {}{}{}", send ? "send" : "receive", describe_bytes(op.bytes),
                     send ? "to" : "from", op.peer, inside(op.operation), in_parentheses(op.where));
}

std::string describe_rank(const RankState& state) {
  std::string line = describe_activity(state);
  const bool works = state.activity == RankActivity::kRunning || state.activity == RankActivity::kCollective;
  if (works && !state.task.empty()) line += fmt::format(" in {}", state.task);
  if (state.stopped_by != 0) line = fmt::format("is stopped by {} while it {}", signal_name(state.stopped_by), line);
  std::size_t listed = 0;
  std::uint64_t more = state.unlisted;
  for (std::size_t i = 0; i < state.posted.size(); ++i) {
    if (state.activity == RankActivity::kWaiting && state.waiting_for == i) continue;
    if (listed == kMaxListed) {
      ++more;
      continue;
    }
    line += (listed++ == 0 ? "; also posted: " : ", ") + describe_posted(state.posted[i]);
  }
  if (more > 0) line += fmt::format("{}{} more", listed == 0 ? "; also posted: " : " and ", more);
  return line;
}

}  // namespace lab
