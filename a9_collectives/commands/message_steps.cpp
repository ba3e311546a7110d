#include "a9_collectives/commands/message_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "common/base/errors.h"
#include "common/comm/trace/trace.h"

namespace lab::a9 {
namespace {

struct TracedMessage {
  const comm::TraceEvent* sent = nullptr;
  const comm::TraceEvent* received = nullptr;
  std::size_t turn = 0;             ///< how many messages its sender posted before
  std::vector<std::size_t> before;  ///< messages that one of its ends had waited for
  int step = 0;
};

std::vector<TracedMessage> matched(const std::vector<comm::TraceEvent>& events) {
  std::vector<TracedMessage> messages;
  for (const comm::MessageEnds& ends : comm::message_ends(events)) {
    if (!ends.sent || !ends.received) {
      const comm::TraceEvent& only = ends.sent ? *ends.sent : *ends.received;
      throw ContractError(fmt::format("the trace holds only one end of message {} from rank {} to rank {}",
                                      only.sequence, ends.src_rank(), ends.dst_rank()));
    }
    TracedMessage message;
    message.sent = ends.sent;
    message.received = ends.received;
    messages.push_back(message);
  }
  return messages;
}

/// True only for events of one rank, which reads its clock at each post and after each wait.
bool waited_for_before(const comm::TraceEvent& earlier, const comm::TraceEvent& later) {
  return earlier.rank == later.rank && earlier.end_seconds <= later.start_seconds;
}

void find_dependencies(std::vector<TracedMessage>& messages) {
  for (TracedMessage& message : messages) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const TracedMessage& other = messages[i];
      if (&other == &message) continue;
      if (other.sent->rank == message.sent->rank && other.sent->start_seconds < message.sent->start_seconds)
        ++message.turn;
      bool before = false;
      for (const comm::TraceEvent* end : {message.sent, message.received})
        before = before || waited_for_before(*other.sent, *end) || waited_for_before(*other.received, *end);
      if (before) message.before.push_back(i);
    }
  }
}

/// Fills in the steps. Every step takes at least one message: what was waited for was complete before the post, so
/// `before` has no cycle.
void schedule(std::vector<TracedMessage>& messages) {
  std::vector<TracedMessage*> waiting;
  for (TracedMessage& message : messages) waiting.push_back(&message);
  std::stable_sort(waiting.begin(), waiting.end(), [](const TracedMessage* a, const TracedMessage* b) {
    return std::tie(a->turn, a->sent->rank) < std::tie(b->turn, b->sent->rank);
  });
  for (int step = 1; !waiting.empty(); ++step) {
    std::set<int> sending;
    std::set<int> receiving;
    std::vector<TracedMessage*> left;
    for (TracedMessage* message : waiting) {
      const bool ready = std::all_of(message->before.begin(), message->before.end(),
                                     [&](std::size_t i) { return messages[i].step != 0 && messages[i].step < step; });
      if (ready && sending.count(message->sent->rank) == 0 && receiving.count(message->received->rank) == 0) {
        sending.insert(message->sent->rank);
        receiving.insert(message->received->rank);
        message->step = step;
      } else {
        left.push_back(message);
      }
    }
    if (left.size() == waiting.size()) throw ContractError("the trace's times contradict each other");
    waiting = std::move(left);
  }
}

}  // namespace

std::vector<StepMessage> message_steps(const std::vector<comm::TraceEvent>& events) {
  std::vector<TracedMessage> messages = matched(events);
  find_dependencies(messages);
  schedule(messages);
  std::vector<StepMessage> result;
  for (const TracedMessage& message : messages)
    result.push_back({message.step, message.sent->rank, message.received->rank, message.sent->label});
  std::stable_sort(result.begin(), result.end(), [](const StepMessage& a, const StepMessage& b) {
    return std::tie(a.step, a.src_rank) < std::tie(b.step, b.src_rank);
  });
  return result;
}

int num_steps(const std::vector<StepMessage>& messages) {
  int most = 0;
  for (const StepMessage& message : messages) most = std::max(most, message.step);
  return most;
}

}  // namespace lab::a9
