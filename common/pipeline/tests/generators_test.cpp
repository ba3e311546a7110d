#include "common/pipeline/generators.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/pipeline/timeline.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

using namespace lab::pipeline;

namespace {

/// F0 sF0 ...: r and s for receive and send, in brackets where only started, ")" where finished.
std::string actions_text(const Schedule& schedule, int rank) {
  std::string text;
  for (const Action& action : schedule.ranks[static_cast<std::size_t>(rank)]) {
    std::string name = short_name(schedule, action);
    if (is_message(action.operation)) {
      const bool forward = action.operation == Operation::kSendForward || action.operation == Operation::kRecvForward;
      name = fmt::format("{}{}{}", is_send(action.operation) ? 's' : 'r', forward ? 'F' : 'B', action.micro_batch);
      if (action.extent == Extent::kStart) name = "(" + name;
      if (action.extent == Extent::kFinish) name += ")";
    }
    text += (text.empty() ? "" : " ") + name;
  }
  return text;
}

std::string computations(const Schedule& schedule, int rank) {
  Schedule alone = schedule;
  auto& list = alone.ranks[static_cast<std::size_t>(rank)];
  list.erase(
      std::remove_if(list.begin(), list.end(), [](const Action& action) { return is_message(action.operation); }),
      list.end());
  return actions_text(alone, rank);
}

/// The largest number of messages of the operation that a rank has started and not finished.
int most_under_way(const Schedule& schedule, Operation operation) {
  int most = 0;
  for (const auto& list : schedule.ranks) {
    int under_way = 0;
    for (const Action& action : list) {
      if (action.operation != operation) continue;
      if (action.extent == Extent::kStart) most = std::max(most, ++under_way);
      if (action.extent == Extent::kFinish) --under_way;
    }
  }
  return most;
}

}  // namespace

TEST_CASE("pipeline generators: the orders of computation") {
  const Schedule afab = make_schedule({"afab", 2, 3});
  CHECK(computations(afab, 0) == "F0 F1 F2 B0 B1 B2");
  CHECK(computations(afab, 1) == "F0 F1 F2 B0 B1 B2");
  const Schedule plain = make_schedule({"1f1b", 3, 4});
  CHECK(computations(plain, 0) == "F0 F1 F2 B0 F3 B1 B2 B3");
  CHECK(computations(plain, 1) == "F0 F1 B0 F2 B1 F3 B2 B3");
  CHECK(computations(plain, 2) == "F0 B0 F1 B1 F2 B2 F3 B3");
  const Schedule interleaved = make_schedule({"interleaved", 2, 4, 2});
  CHECK(computations(interleaved, 0) == "F0a F1a F0b F1b F2a B0b F3a B1b F2b B0a F3b B1a B2b B3b B2a B3a");
  CHECK(computations(interleaved, 1) == "F0a F1a F0b B0b F1b B1b F2a B0a F3a B1a F2b B2b F3b B3b B2a B3a");
  const Schedule zero_bubble = make_schedule({"zb-h1", 3, 4});
  CHECK(computations(zero_bubble, 0) == "F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3");
  CHECK(computations(zero_bubble, 1) == "F0 F1 I0 F2 I1 W0 F3 I2 W1 I3 W2 W3");
  CHECK(computations(zero_bubble, 2) == "F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3");
}

TEST_CASE("pipeline generators: blocking messages stand next to their computation") {
  const Schedule schedule = make_schedule({"afab", 3, 2, 1, Waiting::kBlocking});
  CHECK(actions_text(schedule, 0) == "F0 sF0 F1 sF1 rB0 B0 rB1 B1");
  CHECK(actions_text(schedule, 1) == "rF0 F0 sF0 rF1 F1 sF1 rB0 B0 sB0 rB1 B1 sB1");
  CHECK(actions_text(schedule, 2) == "rF0 F0 rF1 F1 B0 sB0 B1 sB1");
}

TEST_CASE("pipeline generators: late messages are posted one computation ahead, and awaited when they are needed") {
  const Schedule schedule = make_schedule({"1f1b", 3, 2});
  CHECK(actions_text(schedule, 0) == "F0 (sF0 (rB0 F1 (sF1 (rB1 rB0) sF0) B0 rB1) sF1) B1");
  CHECK(actions_text(schedule, 1) ==
        "(rF0 (rF1 rF0) F0 (sF0 (rB0 rF1) F1 (sF1 (rB1 rB0) sF0) B0 (sB0 rB1) sF1) B1 sB0) (sB1 sB1)");
  CHECK(actions_text(schedule, 2) == "(rF0 rF0) F0 (rF1 B0 (sB0 rF1) F1 B1 sB0) (sB1 sB1)");
}

TEST_CASE("pipeline generators: one rank hands over to itself without messages") {
  for (const std::string& kind : schedule_kinds()) {
    const Schedule schedule = make_schedule({kind, 1, 3, kind == "interleaved" ? 3 : 1});
    for (const Action& action : schedule.ranks[0]) CHECK_FALSE(is_message(action.operation));
    make_timeline(schedule, Costs{});
  }
}

TEST_CASE("pipeline generators: messages under way need no memory that grows with the micro-batches") {
  for (const std::string& kind : schedule_kinds()) {
    for (const int v : kind == "interleaved" ? std::vector<int>{1, 2, 4} : std::vector<int>{1}) {
      for (const int p : {2, 3, 8}) {
        CAPTURE(kind);
        CAPTURE(v);
        CAPTURE(p);
        const Schedule schedule = make_schedule({kind, p, 64 * p, v});
        CHECK(most_under_way(schedule, Operation::kRecvForward) <= 2);
        CHECK(most_under_way(schedule, Operation::kRecvBackward) <= 2);
        CHECK(most_under_way(schedule, Operation::kSendBackward) <= (v == 1 ? 1 : v * p));
      }
    }
  }
}

TEST_CASE("pipeline generators: impossible options are one clear message") {
  const auto refused = [](const ScheduleOptions& options) {
    return lab::testing::get_message<lab::UsageError>([&] { make_schedule(options); });
  };
  CHECK(refused({"1fib"}) == "schedule '1fib': expected one of afab, 1f1b, interleaved, zb-h1; did you mean '1f1b'?");
  CHECK(refused({"gpipe"}) == "schedule 'gpipe': expected one of afab, 1f1b, interleaved, zb-h1");
  CHECK(refused({"afab", 0, 4}) == "schedule afab: expected at least 1 rank, got 0");
  CHECK(refused({"afab", 4, -1}) == "schedule afab: expected at least 1 micro-batch, got -1");
  CHECK(refused({"interleaved", 4, 4, 0}) == "schedule interleaved: expected at least 1 chunk, got 0");
  CHECK(refused({"afab", 4, 2'000'000'000}) ==
        "schedule afab: expected at most 10000000 forward passes in all, got 4 ranks x 2000000000 micro-batches x 1 "
        "chunks");
  CHECK(refused({"1f1b", 4, 8, 2}) ==
        "schedule 1f1b: expected 1 chunk on each rank, got 2; hint: only interleaved has more");
  CHECK(refused({"interleaved", 4, 6, 2}) ==
        "schedule interleaved: expected a multiple of 4 micro-batches, as many as ranks, got 6; hint: the others take "
        "any number");
}
