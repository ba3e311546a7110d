#include "common/checks/case.h"

#include <array>
#include <cmath>

#include "common/testing/test.h"
#include "common/testing/worlds.h"

namespace lab {
namespace {

/// Rank r must return its input doubled.
Case doubling() {
  Case test_case;
  test_case.task = "a0.double";
  test_case.name = test_case.prefix = "Double";
  test_case.inputs = [](const CasePlace& place) {
    CaseInputs inputs;
    inputs.tensors["input.x"] = at::full({3}, static_cast<double>(place.rank) + 1);
    inputs.numbers["factor"] = 2;
    return inputs;
  };
  test_case.expected = [](const CasePlace& place) { return TensorMap{{"y", at::full({3}, 2.0 * place.rank + 2)}}; };
  return test_case;
}

CaseResult run_on_two(const Case& test_case, const TaskCall& call, launch::WorldOutcome* outcome = nullptr) {
  CaseResult of_rank_one;
  const launch::WorldOutcome result =
      launch::run_ranks(threads(2), launch::RankBody([&](Communicator& comm, launch::RankOutcome&) {
                          const CaseResult own = run_case(test_case, {{"a0.double", call}}, comm, 1);
                          if (comm.rank() == 1) of_rank_one = own;
                        }));
  if (outcome != nullptr) *outcome = result;
  return of_rank_one;
}

TaskCall times(double factor) {
  return [factor](Communicator&, const CaseInputs& inputs) {
    return TensorMap{{"y", inputs.tensor("input.x") * factor}};
  };
}

TEST_CASE("a right result passes, a wrong one fails with its differences") {
  const CaseResult right = run_on_two(doubling(), times(2));
  CHECK(right.passed());
  CHECK(right.comparison.max_diff == 0);
  CHECK(at::equal(right.record.results.at("y"), at::full({3}, 4.0)));
  const CaseResult wrong = run_on_two(doubling(), times(3));
  CHECK_FALSE(wrong.passed());
  CHECK(wrong.comparison.max_diff == doctest::Approx(2));
  CHECK(wrong.comparison.mean_diff == doctest::Approx(2));
}

TEST_CASE("a result left undefined or full of NaN never passes") {
  const CaseResult undefined = run_on_two(doubling(), [](Communicator&, const CaseInputs&) {
    return TensorMap{{"y", at::Tensor()}};
  });
  CHECK_FALSE(undefined.passed());
  CHECK(std::isnan(undefined.comparison.max_diff));
  const CaseResult poisoned = run_on_two(doubling(), times(std::nan("")));
  CHECK_FALSE(poisoned.passed());
  CHECK(std::isnan(poisoned.comparison.max_diff));
}

TEST_CASE("a result may be part of something larger, an input, or have a graph: none of this lives on") {
  const auto passes = [](const std::function<at::Tensor(const at::Tensor& x)>& doubled) {
    const CaseResult result = run_on_two(doubling(), [&](Communicator&, const CaseInputs& inputs) {
      return TensorMap{{"y", doubled(inputs.tensor("input.x"))}};
    });
    CHECK(result.over_budget.empty());
    return result.passed();
  };
  CHECK(passes([](const at::Tensor& x) { return at::cat({x, x * 2, x}).narrow(0, 3, 3); }));
  CHECK(passes([](const at::Tensor& x) { return at::Tensor(x).mul_(2); }));
  CHECK(passes([](const at::Tensor& x) { return x.clone().requires_grad_() * at::full({3}, 2.0); }));
  CHECK(passes([](const at::Tensor& x) {
    const at::Tensor leaf = x.clone().requires_grad_();
    (leaf * leaf).sum().backward();
    return leaf.grad();
  }));
}

TEST_CASE("a missing, unknown or mis-shaped result is an error that names it") {
  launch::WorldOutcome outcome;
  run_on_two(
      doubling(), [](Communicator&, const CaseInputs&) { return TensorMap{}; }, &outcome);
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->message.find("'y'") != std::string::npos);
  run_on_two(
      doubling(),
      [](Communicator&, const CaseInputs&) {
        return TensorMap{{"y", at::zeros({3})}, {"z", at::zeros({3})}};
      },
      &outcome);
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->message.find("'z'") != std::string::npos);
  run_on_two(
      doubling(),
      [](Communicator&, const CaseInputs&) {
        return TensorMap{{"y", at::zeros({4})}};
      },
      &outcome);
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->message.find("a0.double [Double], result 'y'") != std::string::npos);
}

TEST_CASE("a right result that costs too much does not pass") {
  Case frugal = doubling();
  frugal.bounds = on_every_rank({{"all_reduce", 1}});
  const auto reduce = [](int times_called) {
    return [times_called](Communicator& comm, const CaseInputs& inputs) {
      for (int i = 0; i < times_called; ++i) comm.collectives().all_reduce(at::zeros({1}));
      return TensorMap{{"y", inputs.tensor("input.x") * 2}};
    };
  };
  CHECK(run_on_two(frugal, reduce(1)).passed());
  const CaseResult costly = run_on_two(frugal, reduce(2));
  CHECK_FALSE(costly.passed());
  CHECK(costly.comparison.close);
  CHECK(costly.over_budget == "2 calls of all_reduce, expected at most 1");
}

TEST_CASE("a bound without a name is on all operations together") {
  const auto sum_and_message = [](Communicator& comm, const CaseInputs& inputs) {
    comm.collectives().all_reduce(at::zeros({2}));  // 8 bytes by the ledger
    const at::Tensor theirs = at::zeros({3});
    Request received = comm.point_to_point().irecv(theirs, 1 - comm.rank());
    comm.point_to_point().send(inputs.tensor("input.x"), 1 - comm.rank());
    received.wait();
    return TensorMap{{"y", inputs.tensor("input.x") * 2}};
  };
  Case test_case = doubling();
  CostBound all;
  all.max_bytes_sent = 20;
  test_case.bounds = on_every_rank({all});
  CHECK(run_on_two(test_case, sum_and_message).passed());
  all.max_bytes_sent = 19;
  test_case.bounds = on_every_rank({all});
  CHECK(run_on_two(test_case, sum_and_message).over_budget == "20 bytes sent in all, expected at most 19");
}

TEST_CASE("messages, bytes and rounds are bounded from both sides, and rounds count from the beginning of the case") {
  const auto exchange = [](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor theirs = at::zeros({3});
    Request received = comm.point_to_point().irecv(theirs, 1 - comm.rank());
    comm.point_to_point().send(inputs.tensor("input.x"), 1 - comm.rank());
    received.wait();
    return TensorMap{{"y", inputs.tensor("input.x") * 2}};
  };
  CostBound exact;
  exact.operation = "a0.double";
  exact.max_messages = exact.min_messages = 1;
  exact.max_bytes_sent = exact.min_bytes_received = 12;
  exact.max_rounds = 1;
  Case test_case = doubling();
  test_case.bounds = on_every_rank({exact});
  CHECK(run_on_two(test_case, exchange).passed());
  const auto complaint = [&](const auto& change) {
    CostBound bound = exact;
    change(bound);
    test_case.bounds = on_every_rank({bound});
    return run_on_two(test_case, exchange).over_budget;
  };
  CHECK(complaint([](CostBound& bound) { bound.max_messages = 0; }) ==
        "1 messages sent of a0.double, expected at most 0");
  CHECK(complaint([](CostBound& bound) { bound.min_messages = 2; }) ==
        "1 messages sent of a0.double, expected at least 2");
  CHECK(complaint([](CostBound& bound) { bound.max_bytes_sent = 11; }) ==
        "12 bytes sent of a0.double, expected at most 11");
  CHECK(complaint([](CostBound& bound) { bound.min_bytes_received = 13; }) ==
        "12 bytes received of a0.double, expected at least 13");
  CHECK(complaint([](CostBound& bound) { bound.min_rounds = 2; }) == "1 rounds of a0.double, expected at least 2");
  CHECK(complaint([](CostBound& bound) { bound.max_rounds = 0; }) == "1 rounds of a0.double, expected at most 0");
  CHECK(complaint([](CostBound& bound) { bound.max_destinations = 0; }) ==
        "1 destinations of a0.double, expected at most 0");
  CHECK(complaint([](CostBound& bound) { bound.min_destinations = 2; }) ==
        "1 destinations of a0.double, expected at least 2");
  CHECK(complaint([](CostBound& bound) { bound.partners = CostBound::Partners::kBothWays; }).empty());
  CHECK(complaint([](CostBound& bound) { bound.partners = CostBound::Partners::kOneWay; }) ==
        "messages of a0.double to 0 and from 0, expected other ranks to send to than to receive from");
}

TEST_CASE("work is bounded by the rank's part of what one process does") {
  Case test_case = doubling();
  test_case.work = [](const CasePlace&) { return ShareBound{6, 3}; };
  CHECK(run_on_two(test_case, times(2)).passed());  // three elements, multiplied once
  const auto twice = [](Communicator&, const CaseInputs& inputs) {
    return TensorMap{{"y", (inputs.tensor("input.x") * 4).div(2)}};
  };
  CHECK(run_on_two(test_case, twice).over_budget ==
        "does 1.00 of one process's work (6 floating-point operations), expected at most 0.50");
}

TEST_CASE("ranks that are sent to and received from are told apart") {
  Case test_case = doubling();
  CostBound bound;
  bound.operation = "a0.double";
  bound.partners = CostBound::Partners::kBothWays;
  test_case.bounds = on_every_rank({bound});
  const auto to_the_right = [](Communicator& comm, const CaseInputs& inputs) {
    if (comm.rank() == 0) comm.point_to_point().send(inputs.tensor("input.x"), 1);
    if (comm.rank() == 1) comm.point_to_point().recv(at::zeros({3}), 0);
    return TensorMap{{"y", inputs.tensor("input.x") * 2}};
  };
  CHECK(run_on_two(test_case, to_the_right).over_budget ==
        "messages of a0.double to none and from 0, expected the same ranks both ways");
}

}  // namespace
}  // namespace lab
