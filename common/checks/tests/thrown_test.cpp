// An exception that student code throws ends the run with exit code 7 and a message that locates it.
#include <fmt/format.h>

#include <stdexcept>

#include "common/base/stack/throw_site.h"
#include "common/checks/tests/small_lab.h"
#include "common/testing/get_message.h"
#include "common/testing/judged_case.h"
#include "common/testing/student/throwing.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

namespace lab::testing {
namespace {

/// The world's failure with the call instead of a0.row's, on 3 ranks.
launch::RankFailure failure_with(const TaskCall& call, launch::WorldKind kind = launch::WorldKind::kThreads) {
  const Case test_case = row_task().test_case;
  const launch::WorldOutcome outcome =
      launch::run_ranks(choose_world(kind, 3), launch::RankBody([&](Communicator& comm, launch::RankOutcome&) {
                          run_case(test_case, {{test_case.task, call}}, comm, 42);
                        }));
  return outcome.failure.value_or(launch::RankFailure{});
}

TaskCall throwing_on_rank_one(const std::function<void()>& thrower) {
  return [thrower](Communicator& comm, const CaseInputs& inputs) {
    if (comm.rank() == 1) thrower();
    return TensorMap{{"out", summed(comm, read_x(inputs))}};
  };
}

/// "student/throwing.cpp:7: "; empty where the suite was built without libbacktrace.
std::string at_line(int line) {
  try {
    beyond_end({});
  } catch (const std::exception& failure) {
    if (!throw_site(&failure).known) return "";
  }
  return fmt::format("student/throwing.cpp:{}: ", line);
}

constexpr const char* kInputs =
    "; inputs: input.grad_out float64 [5, 3], input.x float64 [5, 4], weight.W float64 [4, 3], weight.bias float64 [3]";

TEST_CASE("an exception in student code has exit code 7 and names rank, task, check, line and the inputs' shapes") {
  const launch::RankFailure failure = failure_with(throwing_on_rank_one([] { beyond_end({1, 2}); }));
  CHECK(failure.exit_code == 7);
  CAPTURE(failure.message);
  CHECK(failure.message.rfind("rank 1: a0.row [row]: " + at_line(kBeyondEndLine) + "vector::_M_range_check", 0) == 0);
  CHECK(contains(failure.message, kInputs));
}

TEST_CASE("LibTorch's own errors have it, too, without its backtrace") {
  const launch::RankFailure failure = failure_with(throwing_on_rank_one([] {
    call([] { at::matmul(at::zeros({2, 3}), at::zeros({2, 3})); });
  }));
  CHECK(failure.exit_code == 7);
  CHECK(failure.message == "rank 1: a0.row [row]: " + at_line(kCallLine) +
                               "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)" + kInputs);
}

TEST_CASE("what is thrown inside backward() has the line of the function that LibTorch called") {
  const launch::RankFailure failure = failure_with(throwing_on_rank_one([] {
    const at::Tensor x = at::zeros({2}).requires_grad_();
    const at::Tensor doubled = x * 2;
    doubled.register_hook([](const at::Tensor& grad) -> at::Tensor {
      beyond_end({});
      return grad;
    });
    doubled.sum().backward();
  }));
  CHECK(failure.exit_code == 7);
  CAPTURE(failure.message);
  CHECK(contains(failure.message, "a0.row [row]: " + at_line(kBeyondEndLine)));
}

TEST_CASE("a thrown integer is told as one, and where all ranks throw alike, one is named") {
  const launch::RankFailure failure = failure_with([](Communicator&, const CaseInputs&) -> TensorMap {
    throw_number();
    return {};
  });
  CHECK(failure.exit_code == 7);
  CAPTURE(failure.message);
  CHECK(contains(failure.message,
                 "a0.row [row]: " + at_line(kThrowNumberLine) + "something that is not an exception was thrown"));
  CHECK(failure.message.rfind("rank ", 0) == 0);
}

TEST_CASE("our own errors keep their exit codes and messages") {
  const auto read_code = [](const std::function<void()>& thrower) {
    return failure_with(throwing_on_rank_one(thrower)).exit_code;
  };
  CHECK(read_code([] { not_implemented("a0.helper"); }) == 3);
  CHECK(read_code([] { throw ContractError("sizes disagree"); }) == 4);
}

TEST_CASE("a fault in a case's own inputs is the suite's: exit code 70") {
  if (at_line(0).empty()) return;  // it takes line tables to tell
  Case broken = row_task().test_case;
  broken.inputs = [](const CasePlace&) -> CaseInputs { throw std::runtime_error("no inputs"); };
  const launch::WorldOutcome outcome =
      launch::run_ranks(threads(2), launch::RankBody([&](Communicator& comm, launch::RankOutcome&) {
                          run_case(broken, {{broken.task, row_task().right}}, comm, 42);
                        }));
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == 70);
}

TEST_CASE("outside of a case, student code that throws is exit code 7 with its line") {
  const launch::WorldOutcome outcome =
      launch::run_ranks(threads(2), launch::RankBody([](Communicator& comm, launch::RankOutcome&) {
                          if (comm.rank() == 1) beyond_end({});
                          comm.collectives().barrier();
                        }));
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == 7);
  CAPTURE(outcome.failure->message);
  CHECK(outcome.failure->message.rfind("rank 1: " + at_line(kBeyondEndLine), 0) == 0);
}

TEST_CASE("records and verdicts carry code and line to the judge") {
  const CaseVerdict verdict = judged(row_task().test_case, throwing_on_rank_one([] { beyond_end({}); }), 2);
  REQUIRE(verdict.ranks.size() == 2);
  CHECK(verdict.ranks[1].exit_code == 7);
  CAPTURE(verdict.reason);
  CHECK(verdict.reason.rfind("rank 1: a0.row [row]: " + at_line(kBeyondEndLine), 0) == 0);
}

}  // namespace
}  // namespace lab::testing
