#include "common/checks/check_run.h"
#include "common/checks/tests/small_lab.h"
#include "common/testing/get_message.h"
#include "common/testing/judged_case.h"
#include "common/testing/test.h"

namespace lab::testing {
namespace {

Case renamed(Case test_case, const std::string& task) {
  test_case.task = task;
  test_case.name = test_case.prefix = task.substr(task.find('.') + 1);
  return test_case;
}

/// The sum's case under another task's id: each test provides the call.
Case sum_named(const std::string& task) {
  return renamed(sum_task().test_case, task);
}

TEST_CASE("a rank records what its cases return and what they cost it, and nothing about right or wrong") {
  const RecordedWorld world = recorded({sum_named("a0.first"), sum_named("a0.second")},
                                       {{"a0.first", sum_task().right},
                                        {"a0.second",
                                         [](Communicator& comm, const CaseInputs& inputs) {
                                           comm.collectives().all_reduce(at::zeros({1}));
                                           comm.collectives().all_reduce(at::zeros({1}));
                                           return TensorMap{{"out", read_x(inputs).zero_()}};
                                         }}},
                                       2);
  REQUIRE(world.by_rank.size() == 2);
  for (const std::vector<CaseRecord>& of_rank : world.by_rank) {
    REQUIRE(of_rank.size() == 4);  // two calls of each
    CHECK(of_rank[0].task == "a0.first");
    CHECK(of_rank[1].task == "a0.first");
    CHECK(of_rank[2].name == "second");
    CHECK((of_rank[2].end == CaseEnd::kReturned));
    CHECK(at::equal(of_rank[0].results.at("out"), world.by_rank[0][0].results.at("out")));
    CHECK(of_rank[2].results.size() == 1);
    for (const LedgerEntry& entry : of_rank[3].spent) {
      if (entry.operation == "all_reduce") CHECK(entry.calls == 2);  // in this call alone
    }
  }
}

TEST_CASE("a TODO ends its case; the next case is performed") {
  const RecordedWorld world =
      recorded({sum_named("a0.todo"), sum_named("a0.done")},
               {{"a0.todo", [](Communicator&, const CaseInputs&) -> TensorMap { not_implemented("a0.helper"); }},
                {"a0.done", sum_task().right}},
               3);
  CHECK_FALSE(world.failure);
  for (const std::vector<CaseRecord>& of_rank : world.by_rank) {
    REQUIRE(of_rank.size() == 4);
    CHECK((of_rank[1].end == CaseEnd::kNotImplemented));
    CHECK(of_rank[1].missing_task == "a0.helper");
    CHECK(of_rank[1].exit_code == 3);
    CHECK((of_rank[2].end == CaseEnd::kReturned));
  }
}

TEST_CASE("anything else that is thrown is recorded and ends the world with its message") {
  const RecordedWorld world = recorded({sum_named("a0.bad"), sum_named("a0.done")},
                                       {{"a0.bad",
                                         [](Communicator& comm, const CaseInputs& inputs) {
                                           if (comm.rank() == 1) throw ContractError("sizes disagree");
                                           return TensorMap{{"out", summed(comm, read_x(inputs))}};
                                         }},
                                        {"a0.done", sum_task().right}},
                                       2);
  REQUIRE(world.failure);
  CHECK(world.failure->exit_code == 4);
  CHECK(contains(world.failure->message, "sizes disagree"));
  REQUIRE(world.by_rank[1].size() == 1);
  CHECK((world.by_rank[1][0].end == CaseEnd::kThrew));
  CHECK(world.by_rank[1][0].message == "sizes disagree");
  CHECK(world.by_rank[1][0].exit_code == 4);
  REQUIRE(world.by_rank[0].size() == 1);  // it waited for rank 1
  CHECK((world.by_rank[0][0].end == CaseEnd::kThrew));
  CHECK(world.by_rank[0][0].exit_code == 5);
}

TEST_CASE("a result that cannot be written is a failure of its case") {
  const RecordedWorld world = recorded({sum_named("a0.bad")},
                                       {{"a0.bad",
                                         [](Communicator&, const CaseInputs&) {
                                           return TensorMap{{"out", at::zeros({1}, at::kComplexDouble)}};
                                         }}},
                                       1);
  REQUIRE(world.failure);
  REQUIRE(world.by_rank[0].size() == 1);
  CHECK((world.by_rank[0][0].end == CaseEnd::kThrew));
  CHECK(contains(world.by_rank[0][0].message, "complex128"));
}

TEST_CASE("a case of rank 0 alone is recorded on no other") {
  const RecordedWorld world = recorded({count_task().test_case}, {{"a0.count", count_task().right}}, 2);
  REQUIRE(world.by_rank[0].size() == 2);
  CHECK(world.by_rank[0][1].name == "count");
  CHECK(world.by_rank[1].empty());
}

TEST_CASE("a request that was never waited for is its own case's failure, not the next one's") {
  const RecordedWorld world = recorded({sum_named("a0.drops"), sum_named("a0.done")},
                                       {{"a0.drops",
                                         [](Communicator& comm, const CaseInputs& inputs) {
                                           const at::Tensor x = read_x(inputs);
                                           { const Request dropped = comm.point_to_point().irecv(x, 1 - comm.rank()); }
                                           return TensorMap{{"out", x}};
                                         }},
                                        {"a0.done", sum_task().right}},
                                       2);
  for (const std::vector<CaseRecord>& of_rank : world.by_rank) {
    REQUIRE(of_rank.size() == 1);
    CHECK((of_rank[0].end == CaseEnd::kThrew));
    CHECK(contains(of_rank[0].message, "without waiting for it"));
  }
}

}  // namespace
}  // namespace lab::testing
