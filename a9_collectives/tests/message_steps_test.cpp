
#include <fmt/format.h>

#include <set>

#include "a9_collectives/commands/explanation.h"
#include "common/api/errors.h"
#include "common/testing/test.h"

namespace lab::a9 {
namespace {

comm::TraceEvent make_end(int rank, comm::Direction direction, int peer, double posted, double waited) {
  comm::TraceEvent event;
  event.rank = rank;
  event.direction = direction;
  event.peer = peer;
  event.start_seconds = posted;
  event.end_seconds = waited;
  return event;
}
comm::TraceEvent sent(int rank, int peer, double posted, double waited) {
  return make_end(rank, comm::Direction::kSend, peer, posted, waited);
}
comm::TraceEvent received(int rank, int peer, double posted, double waited) {
  return make_end(rank, comm::Direction::kRecv, peer, posted, waited);
}

std::string get_text(const std::vector<comm::TraceEvent>& events) {
  std::string text;
  for (const StepMessage& message : message_steps(events))
    text += fmt::format("{}:{}->{} ", message.step, message.src_rank, message.dst_rank);
  return text;
}

TEST_CASE("what an end had waited for comes before") {
  // Rank 1 passes on what it got; rank 2 posted its receive long before.
  CHECK(get_text({sent(0, 1, 0, 1), received(1, 0, 0, 1), sent(1, 2, 2, 3), received(2, 1, 0, 3)}) == "1:0->1 2:1->2 ");
  // Rank 3 is free from the start, but its receiver posts only after it has heard from rank 0.
  CHECK(get_text({sent(0, 1, 0, 1), received(1, 0, 0, 1), received(1, 3, 2, 3), sent(3, 1, 0, 3)}) == "1:0->1 2:3->1 ");
}

TEST_CASE("posted at once, messages still take turns at a port; the order of posts decides, not that of waits") {
  CHECK(get_text({sent(0, 2, 1, 4), sent(0, 1, 2, 3), received(1, 0, 0, 1), received(2, 0, 0, 9)}) == "1:0->2 2:0->1 ");
  CHECK(get_text({sent(0, 2, 0, 9), sent(1, 2, 0, 9), received(2, 0, 0, 5), received(2, 1, 1, 6)}) == "1:0->2 2:1->2 ");
  CHECK(get_text({sent(0, 1, 0, 9), received(0, 1, 1, 9), sent(1, 0, 0, 9), received(1, 0, 1, 9)}) == "1:0->1 1:1->0 ");
}

TEST_CASE("no messages, no steps; built-in collectives do not count; half a message is an error") {
  CHECK(num_steps(message_steps({})) == 0);
  comm::TraceEvent barrier;
  barrier.kind = comm::TraceKind::kCollective;
  CHECK(message_steps({barrier}).empty());
  CHECK_THROWS_AS(message_steps({sent(0, 1, 0, 1)}), ContractError);
}

/// One port each way: messages that are posted at once take a step each.
int expected_steps(const Algorithm& algorithm, int num_ranks) {
  // The chain's 4 segments, and up to 8 ranks 2 of each of a ring's chunks.
  const double num_bytes = algorithm.name == "ring_segmented" && num_ranks <= 8 ? num_ranks * (2 << 17) : 4 << 18;
  const int steps = static_cast<int>(algorithm.cost(num_bytes, num_ranks).steps);
  return algorithm.name == "direct" ? steps * (num_ranks - 1) : steps;
}

TEST_CASE("every algorithm takes the steps that its header promises, with one port per rank") {
  for (const Collective& collective : catalogue()) {
    for (const Algorithm& algorithm : collective.algorithms) {
      for (const int num_ranks : {2, 3, 4, 5, 8, 16}) {
        INFO(collective.name << " " << algorithm.name << " on " << num_ranks << " ranks");
        const Explanation explanation = explain(collective, algorithm, num_ranks);
        CHECK(num_steps(explanation.messages) == expected_steps(algorithm, num_ranks));
        std::set<std::pair<int, int>> senders;
        std::set<std::pair<int, int>> receivers;
        for (const StepMessage& message : explanation.messages) {
          CHECK(senders.insert({message.step, message.src_rank}).second);
          CHECK(receivers.insert({message.step, message.dst_rank}).second);
        }
      }
    }
  }
}

}  // namespace
}  // namespace lab::a9
