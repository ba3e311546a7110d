#include "common/pipeline/timeline.h"

#include <cstdlib>
#include <limits>

#include "common/pipeline/generators.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

using namespace lab::pipeline;

namespace {

using lab::testing::contains;

/// A message takes 1/4 + 2 * 1/8 = 1/2.
Costs with_messages() {
  Costs costs;
  costs.latency_seconds = 0.25;
  costs.seconds_per_byte = 0.125;
  costs.message_bytes = 2;
  return costs;
}

const Span& find_span(const Timeline& timeline, int rank, const Action& action) {
  for (const auto* spans : {&timeline.computations, &timeline.messages}) {
    for (const Span& span : *spans) {
      if (span.rank == rank && span.action == action) return span;
    }
  }
  throw lab::ContractError("no such span");
}

}  // namespace

TEST_CASE("pipeline timeline: one micro-batch goes there and back") {
  for (const Waiting waiting : {Waiting::kLate, Waiting::kBlocking}) {
    const Timeline timeline = make_timeline(make_schedule({"afab", 2, 1, 1, waiting}), with_messages());
    // forward 1, message 0.5, forward 1, backward 2, message 0.5, backward 2
    CHECK(find_span(timeline, 0, {Operation::kSendForward, 0}).start_seconds == 1);
    CHECK(find_span(timeline, 0, {Operation::kSendForward, 0}).end_seconds == 1.5);
    CHECK(find_span(timeline, 1, {Operation::kForward, 0}).start_seconds == 1.5);
    CHECK(find_span(timeline, 1, {Operation::kSendBackward, 0}).start_seconds == 4.5);
    CHECK(find_span(timeline, 0, {Operation::kBackward, 0}).start_seconds == 5);
    CHECK(timeline.makespan_seconds == 7);
    CHECK(timeline.busy_seconds == std::vector<double>{3, 3});
    CHECK(timeline.bubble_fraction() == 1 - 6.0 / 14);
  }
}

TEST_CASE("pipeline timeline: a message begins when both ends are posted") {
  Costs costs = with_messages();
  costs.forward_seconds = {1, 4};
  // Rank 1 posts the receive of micro-batch 1 only after its forward pass of micro-batch 0, from 1.5 to 5.5; a blocking
  // send waits that long, and its rank with it.
  const Timeline blocking = make_timeline(make_schedule({"afab", 2, 2, 1, Waiting::kBlocking}), costs);
  CHECK(find_span(blocking, 0, {Operation::kForward, 1}).start_seconds == 1.5);
  CHECK(find_span(blocking, 0, {Operation::kSendForward, 1}).start_seconds == 5.5);
  CHECK(find_span(blocking, 1, {Operation::kForward, 1}).start_seconds == 6);
  // With late messages the receive is posted before that forward pass, and the message travels during it.
  const Timeline late = make_timeline(make_schedule({"afab", 2, 2}), costs);
  CHECK(find_span(late, 0, {Operation::kForward, 1}).start_seconds == 1);
  CHECK(find_span(late, 0, {Operation::kSendForward, 1}).start_seconds == 2);
  CHECK(find_span(late, 1, {Operation::kForward, 1}).start_seconds == 5.5);
}

TEST_CASE("pipeline timeline: late messages travel while their ranks compute") {
  // Rank 1 gets F0 at 1.5 and then computes without a gap: 4 forward passes, 4 backward passes, until 13.5; rank 0 gets
  // the last gradient at 14.
  const Timeline timeline = make_timeline(make_schedule({"afab", 2, 4}), with_messages());
  CHECK(timeline.makespan_seconds == 16);
  CHECK(find_span(timeline, 1, {Operation::kBackward, 3}).end_seconds == 13.5);
  const Timeline blocking = make_timeline(make_schedule({"afab", 2, 4, 1, Waiting::kBlocking}), with_messages());
  CHECK(blocking.makespan_seconds > timeline.makespan_seconds);
}

TEST_CASE("pipeline timeline: what each link carries") {
  const Timeline plain = make_timeline(make_schedule({"1f1b", 3, 5}), with_messages());
  CHECK(plain.messages.size() == 20);
  CHECK(plain.links.size() == 4);
  for (const auto& [ends, link] : plain.links) {
    CHECK(std::abs(ends.first - ends.second) == 1);
    CHECK(link.messages == 5);
    CHECK(link.bytes == 10);
  }
  const Timeline interleaved = make_timeline(make_schedule({"interleaved", 3, 6, 2}), with_messages());
  CHECK(interleaved.links.at({0, 1}).messages == 12);
  CHECK(interleaved.links.at({2, 0}).messages == 6);
  CHECK(interleaved.links.at({0, 2}).messages == 6);
  CHECK(make_timeline(make_schedule({"interleaved", 1, 2, 4}), with_messages()).links.empty());
}

TEST_CASE("pipeline timeline: costs of each stage") {
  Costs costs;
  costs.forward_seconds = {1, 2, 3, 4};
  costs.backward_input_seconds = {10};
  costs.backward_weight_seconds = {0.5, 0.5, 0.5, 0.25};
  CHECK(computation_seconds(costs, Operation::kForward, 2) == 3);
  CHECK(computation_seconds(costs, Operation::kBackward, 3) == 10.25);
  CHECK(computation_seconds(costs, Operation::kBackwardInput, 3) == 10);
  CHECK(computation_seconds(costs, Operation::kBackwardWeight, 0) == 0.5);
  const Timeline timeline = make_timeline(make_schedule({"interleaved", 2, 2, 2}), costs);
  CHECK(timeline.busy_seconds == std::vector<double>{2 * (1 + 3 + 20 + 1.0), 2 * (2 + 4 + 20 + 0.75)});
  const Schedule schedule = make_schedule({"interleaved", 2, 2, 2});
  CHECK(even_costs(schedule, 1, 2, 3).forward_seconds == std::vector<double>{0.5});
  CHECK(even_costs(schedule, 1, 2, 3).backward_input_seconds == std::vector<double>{1});
  CHECK(even_costs(schedule, 1, 2, 3).backward_weight_seconds == std::vector<double>{1.5});
}

TEST_CASE("pipeline timeline: free computations take no time") {
  Costs costs;
  costs.forward_seconds = costs.backward_input_seconds = costs.backward_weight_seconds = {0};
  const Timeline timeline = make_timeline(make_schedule({"1f1b", 4, 8}), costs);
  CHECK(timeline.makespan_seconds == 0);
  CHECK(timeline.bubble_fraction() == 0);
}

TEST_CASE("pipeline timeline: costs that cannot be are one clear message") {
  const Schedule schedule = make_schedule({"1f1b", 4, 8});
  const auto refused = [&](const Costs& costs) {
    return lab::testing::get_message<lab::ContractError>([&] { make_timeline(schedule, costs); });
  };
  Costs costs;
  costs.forward_seconds = {1, 2, 3};
  CHECK(refused(costs) ==
        "costs: expected one value of forward_seconds for all stages or one for each of 4, got 3 values");
  costs = {};
  costs.backward_weight_seconds = {};
  CHECK(refused(costs) ==
        "costs: expected one value of backward_weight_seconds for all stages or one for each of 4, got 0 values");
  costs = {};
  costs.latency_seconds = -1;
  CHECK(refused(costs) == "costs: expected latency_seconds of at least 0, got -1");
  costs = {};
  costs.backward_input_seconds = {std::numeric_limits<double>::quiet_NaN()};
  CHECK(refused(costs) == "costs: expected backward_input_seconds of at least 0, got nan");
}

TEST_CASE("pipeline timeline: everything that is generated late comes through") {
  for (const std::string& kind : schedule_kinds()) {
    for (const int v : kind == "interleaved" ? std::vector<int>{1, 2, 3, 4} : std::vector<int>{1}) {
      for (const int p : {1, 2, 3, 4, 5, 8, 16, 64}) {
        for (const int groups : {1, 2, 4}) make_timeline(make_schedule({kind, p, groups * p, v}), Costs{});
        if (kind != "interleaved") make_timeline(make_schedule({kind, p, p + 1}), Costs{});
      }
    }
  }
}

TEST_CASE("pipeline timeline: with messages awaited where they stand, only afab comes through") {
  const auto deadlock = [](const std::string& kind, int p, int m, int v) {
    return lab::testing::get_message<lab::DeadlockError>([&] {
      make_timeline(make_schedule({kind, p, m, v, Waiting::kBlocking}), Costs{});
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
