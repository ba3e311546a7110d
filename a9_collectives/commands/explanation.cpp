#include "a9_collectives/commands/explanation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>
#include <tuple>

#include "a9_collectives/allreduce.h"
#include "a9_collectives/broadcast.h"
#include "a9_collectives/chunks.h"
#include "common/api/errors.h"
#include "common/base/text.h"
#include "common/comm/trace/trace.h"
#include "common/launch/run_ranks.h"

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

namespace {

using Pieces = std::vector<Piece>;

/// What was sent, numbered: a trace's label is a string, so it carries the number.
class Payloads {
 public:
  std::string add(Pieces pieces) {
    const std::lock_guard<std::mutex> lock(mutex_);
    payloads_.push_back(std::move(pieces));
    return std::to_string(payloads_.size() - 1);
  }
  const Pieces& at(const std::string& label) const { return payloads_.at(std::stoul(label)); }

 private:
  std::mutex mutex_;
  std::vector<Pieces> payloads_;
};

/// Few, but P chunks and floor_power_of_two(P) chunks are both even.
std::int64_t small_numel(int num_ranks) {
  return std::int64_t{num_ranks} * floor_power_of_two(num_ranks);
}

/// The smallest of numel, 2 numel, 4 numel ... that is cut into so many pieces; the smallest of all if none is.
template <typename NumPieces>
std::int64_t cut_into(std::int64_t count, std::int64_t numel, const NumPieces& num_pieces) {
  constexpr auto kElementBytes = static_cast<std::int64_t>(sizeof(std::int64_t));
  for (std::int64_t longer = numel; longer <= kMostProvenanceElements; longer *= 2) {
    if (num_pieces(longer * kElementBytes) >= count) return longer;
  }
  return numel;
}

/// What travels in pieces shows nothing in one piece, and the number of pieces depends on the bytes.
std::int64_t numel_for(const Algorithm& algorithm, int num_ranks) {
  if (algorithm.name == "chain") return cut_into(4, 4, broadcast_chain_segments);
  const auto ring_segments = [&](std::int64_t num_bytes) { return allreduce_ring_segments(num_bytes, num_ranks); };
  if (algorithm.name == "ring_segmented") return cut_into(2, small_numel(num_ranks), ring_segments);
  return small_numel(num_ranks);
}

std::vector<Pieces> all_cut(const ChunkNames& names, const std::vector<Pieces>& of_ranks) {
  std::vector<Pieces> result;
  for (const Pieces& pieces : of_ranks) result.push_back(names.cut(pieces));
  return result;
}

}  // namespace

Explanation explain(const Collective& collective, const Algorithm& algorithm, int num_ranks) {
  const std::int64_t numel = collective.input_elements(numel_for(algorithm, num_ranks), num_ranks);
  std::vector<Pieces> inputs(static_cast<std::size_t>(num_ranks));
  std::vector<Pieces> results = inputs;
  Payloads payloads;
  launch::WorldSpec spec;
  spec.num_ranks = num_ranks;
  spec.traced = true;
  spec.payload_label = [&](const at::Tensor& payload) { return payloads.add(split_pieces(payload)); };
  const launch::WorldOutcome outcome =
      launch::run_ranks(spec, launch::RankBody([&](Communicator& comm, launch::RankOutcome&) {
                          const auto rank = static_cast<std::size_t>(comm.rank());
                          const at::Tensor input = provenance(comm.rank(), numel);
                          inputs[rank] = split_pieces(input);
                          results[rank] = split_pieces(algorithm.run(input, comm.point_to_point()));
                        }));
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->message);

  std::vector<comm::TraceEvent> events;
  for (const launch::RankOutcome& rank : outcome.ranks)
    events.insert(events.end(), rank.trace.begin(), rank.trace.end());
  std::vector<StepMessage> messages = message_steps(events);

  Pieces all;
  const auto add = [&all](const Pieces& pieces) { all.insert(all.end(), pieces.begin(), pieces.end()); };
  std::for_each(inputs.begin(), inputs.end(), add);
  std::for_each(results.begin(), results.end(), add);
  for (const StepMessage& message : messages) add(payloads.at(message.label));
  const ChunkNames names(all, num_ranks);
  for (StepMessage& message : messages) message.label = names.name(payloads.at(message.label));
  const double num_bytes = static_cast<double>(numel_for(algorithm, num_ranks)) * sizeof(std::int64_t);
  // An experimental algorithm has no formula yet.
  const double steps = algorithm.cost ? algorithm.cost(num_bytes, num_ranks).steps : num_steps(messages);
  const auto cost_steps = static_cast<int>(std::lround(steps));
  return {collective.name,        algorithm.name,          num_ranks,           names,
          all_cut(names, inputs), all_cut(names, results), std::move(messages), cost_steps};
}

const Algorithm& small_message_algorithm(const Collective& collective, int num_ranks) {
  const auto num_bytes = small_numel(num_ranks) * static_cast<std::int64_t>(sizeof(std::int64_t));
  return algorithm_named(collective, collective.choose(num_bytes, num_ranks));
}

std::string steps_text(const Explanation& explanation) {
  const int shown = num_steps(explanation.messages);
  if (explanation.cost_steps >= shown) return counted(shown, "step");
  return fmt::format("{} with all {} messages at once, shown as {}", counted(explanation.cost_steps, "step"),
                     explanation.cost_steps == 1 ? "its" : "their", counted(shown, "step"));
}

std::string explanation_text(const Explanation& explanation) {
  std::string text =
      fmt::format("{} {} on {} ranks: {}, {}\n", explanation.collective, explanation.algorithm, explanation.num_ranks,
                  steps_text(explanation), counted(explanation.messages.size(), "message"));
  const auto add_ranks = [&](const char* verb, const std::vector<Pieces>& of_ranks) {
    for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
      std::vector<std::string> chunks;
      for (const Piece& piece : of_ranks[rank]) chunks.push_back(explanation.names.name(piece));
      text += fmt::format("rank {} {} {}\n", rank, verb, fmt::join(chunks, " "));
    }
  };
  add_ranks("starts with", explanation.inputs);
  int step = 0;
  for (const StepMessage& message : explanation.messages) {
    text += message.step == step ? ", " : fmt::format("{}step {}: ", step == 0 ? "" : "\n", message.step);
    text += fmt::format("{}->{} {}", message.src_rank, message.dst_rank, message.label);
    step = message.step;
  }
  if (step > 0) text += '\n';
  add_ranks("ends with", explanation.results);
  return text;
}

}  // namespace lab::a9
