#include "common/pipeline/generators.h"
#include "common/pipeline/timeline.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

using namespace lab::pipeline;

namespace {

using lab::testing::contains;

using Actions = std::vector<Action>;

/// rank 0: F0 sF0 F1 sF1 rB0 B0 rB1 B1
/// rank 1: rF0 F0 rF1 F1 B0 sB0 B1 sB1
Schedule small() {
  return make_schedule({"afab", 2, 2, 1, Waiting::kBlocking});
}

/// rank 0: F0 (sF0 (rB0 F1 (sF1 (rB1 rB0) sF0) B0 rB1) sF1) B1
/// rank 1: (rF0 (rF1 rF0) F0 ...
Schedule small_late() {
  return make_schedule({"afab", 2, 2});
}

std::string refused(const Schedule& schedule) {
  return lab::testing::get_message<lab::ContractError>([&] { validate(schedule); });
}

/// The message about rank's list after the change.
template <typename Change>
std::string refused_after(Schedule schedule, std::size_t rank, const Change& change) {
  change(schedule.ranks[rank]);
  return refused(schedule);
}

auto without(std::ptrdiff_t index) {
  return [index](Actions& list) { list.erase(list.begin() + index); };
}

auto doubled(std::ptrdiff_t index) {
  return [index](Actions& list) { list.insert(list.begin() + index, list[static_cast<std::size_t>(index)]); };
}

auto swapped(std::size_t first, std::size_t second) {
  return [first, second](Actions& list) { std::swap(list[first], list[second]); };
}

template <typename Value>
auto with(std::size_t index, Value Action::*member, Value value) {
  return [index, member, value](Actions& list) { list[index].*member = value; };
}

}  // namespace

TEST_CASE("pipeline validate: everything that is generated late") {
  for (const std::string& kind : schedule_kinds()) {
    for (const int v : kind == "interleaved" ? std::vector<int>{1, 2, 3, 4} : std::vector<int>{1}) {
      for (const int p : {1, 2, 3, 4, 5, 8, 16, 64}) {
        for (const int groups : {1, 2, 4}) validate(make_schedule({kind, p, groups * p, v}));
        if (kind != "interleaved") validate(make_schedule({kind, p, p + 1}));
      }
    }
  }
}

TEST_CASE("pipeline validate: a computation that is missing, double or out of place") {
  CHECK(
      refused_after(small(), 1, without(6)) ==
      "schedule afab, rank 1, action 6, send_backward of micro-batch 1: it is not computed yet; expected the backward "
      "pass earlier in the list");
  CHECK(refused_after(small(), 0, without(7)) ==
        "schedule afab, rank 0: backward of micro-batch 1 is missing; expected it once");
  CHECK(refused_after(small(), 0, doubled(0)) ==
        "schedule afab, rank 0, action 1, forward of micro-batch 0: it is done already; expected that once");
  CHECK(refused_after(small(), 1, swapped(3, 4)) == "nothing was thrown");  // 1F1B, which is fine, too
  CHECK(refused_after(small(), 1, swapped(1, 4)) ==
        "schedule afab, rank 1, action 1, backward of micro-batch 0: the forward pass is not done yet; expected it "
        "earlier in the list");
}

TEST_CASE("pipeline validate: a micro-batch, chunk or extent that does not exist") {
  CHECK(refused_after(small(), 0, with(2, &Action::micro_batch, 2)) ==
        "schedule afab, rank 0, action 2, forward of micro-batch 2: there is no micro-batch 2; expected 0 to 1");
  CHECK(refused_after(small(), 0, with(0, &Action::micro_batch, -1)) ==
        "schedule afab, rank 0, action 0, forward of micro-batch -1: there is no micro-batch -1; expected 0 to 1");
  CHECK(refused_after(small(), 0, with(0, &Action::chunk, 1)) ==
        "schedule afab, rank 0, action 0, forward of micro-batch 0: there is no chunk 1; expected 0 to 0");
  CHECK(refused_after(small(), 0, with(0, &Action::extent, Extent::kStart)) ==
        "schedule afab, rank 0, action 0, start of forward of micro-batch 0: only messages have a start and an end; "
        "expected it whole");
}

TEST_CASE("pipeline validate: messages that are missing, double, early or not for this rank") {
  CHECK(refused_after(small(), 1, without(0)) ==
        "schedule afab, rank 1, action 0, forward of micro-batch 0: expected recv_forward of micro-batch 0 earlier in "
        "the list");
  CHECK(
      refused_after(small(), 0, without(4)) ==
      "schedule afab, rank 0, action 4, backward of micro-batch 0: expected recv_backward of micro-batch 0 earlier in "
      "the list");
  CHECK(refused_after(small(), 0, without(3)) ==
        "schedule afab, rank 0: send_forward of micro-batch 1 is missing; expected it once");
  CHECK(refused_after(small(), 0, swapped(0, 1)) ==
        "schedule afab, rank 0, action 0, send_forward of micro-batch 0: it is not computed yet; expected the forward "
        "pass earlier in the list");
  CHECK(refused_after(small(), 0, doubled(1)) ==
        "schedule afab, rank 0, action 2, send_forward of micro-batch 0: it was started already; expected that once");
  CHECK(refused_after(small(), 0, with(1, &Action::operation, Operation::kSendBackward)) ==
        "schedule afab, rank 0, action 1, send_backward of micro-batch 0: stage 0 has no stage beyond it; expected no "
        "such message");
  const Schedule alone = make_schedule({"interleaved", 1, 1, 2});
  CHECK(
      refused_after(alone, 0, [](Actions& list) { list.insert(list.begin() + 1, {Operation::kSendForward}); }) ==
      "schedule interleaved, rank 0, action 1, send_forward of micro-batch 0 in chunk 0: the next stage is on the same "
      "rank; expected no message");
}

TEST_CASE("pipeline validate: halves of messages") {
  CHECK(refused_after(small_late(), 1, with(0, &Action::extent, Extent::kFinish)) ==
        "schedule afab, rank 1, action 0, end of recv_forward of micro-batch 0: it was not started; expected its start "
        "earlier in the list");
  CHECK(refused_after(small_late(), 1, without(2)) ==
        "schedule afab, rank 1, action 2, forward of micro-batch 0: expected the end of recv_forward of micro-batch 0 "
        "earlier in the list");
  CHECK(refused_after(small_late(), 1, doubled(2)) ==
        "schedule afab, rank 1, action 3, end of recv_forward of micro-batch 0: it is finished already; expected that "
        "once");
  CHECK(refused_after(small_late(), 1, [](Actions& list) { list.pop_back(); }) ==
        "schedule afab, rank 1: send_backward of micro-batch 1 is started and never finished");
}

TEST_CASE("pipeline validate: the two halves of a backward pass") {
  const Schedule schedule = make_schedule({"zb-h1", 1, 1});  // F0 I0 W0
  CHECK(refused_after(schedule, 0, swapped(1, 2)) ==
        "schedule zb-h1, rank 0, action 1, backward_weight of micro-batch 0: the input's gradient is not computed yet; "
        "expected backward_input earlier in the list");
  CHECK(refused_after(schedule, 0, without(2)) ==
        "schedule zb-h1, rank 0: backward_weight of micro-batch 0 is missing; expected it once");
  const std::string mixture = "expected a backward pass either whole or in two halves, got a mixture";
  CHECK(refused_after(schedule, 0, with(1, &Action::operation, Operation::kBackward)) ==
        "schedule zb-h1, rank 0, action 2, backward_weight of micro-batch 0: " + mixture);
  CHECK(refused_after(schedule, 0, with(2, &Action::operation, Operation::kBackward)) ==
        "schedule zb-h1, rank 0, action 2, backward of micro-batch 0: " + mixture);
}

TEST_CASE("pipeline validate: stages on one rank depend on each other, too") {
  const Schedule schedule = make_schedule({"interleaved", 1, 1, 2});  // F0a F0b B0b B0a
  CHECK(
      refused_after(schedule, 0, swapped(0, 1)) ==
      "schedule interleaved, rank 0, action 0, forward of micro-batch 0 in chunk 1: expected forward of micro-batch 0 "
      "in chunk 0 earlier in the list");
  CHECK(
      refused_after(schedule, 0, swapped(2, 3)) ==
      "schedule interleaved, rank 0, action 2, backward of micro-batch 0 in chunk 0: expected backward of micro-batch "
      "0 in chunk 1 earlier in the list");
}

TEST_CASE("pipeline validate: lists that are missing, or too short for what the schedule says of itself") {
  Schedule schedule = small();
  schedule.ranks.pop_back();
  CHECK(refused(schedule) == "schedule afab: expected a list of actions for each of 2 ranks, got 1 lists");
  schedule = small();
  schedule.num_micro_batches = 2'000'000'000;
  CHECK(refused(schedule) ==
        "schedule afab, rank 0: expected a forward pass of 2000000000 micro-batches through 1 chunks, got a list of 8 "
        "actions");
  schedule.num_micro_batches = 0;
  CHECK(refused(schedule) == "schedule afab: expected at least 1 rank, 1 micro-batch and 1 chunk, got 2, 0 and 1");
}

TEST_CASE("pipeline validate: with messages awaited where they stand, only afab comes through") {
  const auto deadlock = [](const std::string& kind, int p, int m, int v) {
    return lab::testing::get_message<lab::DeadlockError>([&] {
      validate(make_schedule({kind, p, m, v, Waiting::kBlocking}));
    });
  };
  CHECK(deadlock("1f1b", 2, 2, 1) ==
        "schedule 1f1b: deadlock: rank 0 waits for its send_forward of micro-batch 1 to rank 1, rank 1 waits for its "
        "send_backward of micro-batch 0 to rank 0; hint: start a message, go on, and wait for it later");
  CHECK(
      deadlock("interleaved", 3, 3, 2) ==
      "schedule interleaved: deadlock: rank 0 waits for its send_forward of micro-batch 2 in chunk 0 to rank 1, rank 1 "
      "waits for its send_forward of micro-batch 1 in chunk 0 to rank 2, rank 2 waits for its send_forward of "
      "micro-batch 0 in chunk 0 to rank 0; hint: start a message, go on, and wait for it later");
  CHECK(contains(deadlock("interleaved", 16, 16, 2), "rank 8"));
  CHECK(deadlock("interleaved", 16, 16, 2).find(", and so on through 16 ranks; hint") != std::string::npos);
  const std::string none = "nothing was thrown";
  for (const int p : {2, 3, 4, 8}) {
    for (const int m : {2, 3, 8}) {
      CHECK(deadlock("afab", p, m, 1) == none);
      CHECK(deadlock("1f1b", p, m, 1) != none);
      CHECK(deadlock("zb-h1", p, m, 1) != none);
      CHECK(deadlock("interleaved", p, m * p, 2) != none);
    }
    CHECK(deadlock("1f1b", p, 1, 1) == none);
  }
}
