// A separate program: it forks ranks, so nothing before it may have used threads or run backward().
#include "common/checks/check_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <new>
#include <nlohmann/json.hpp>

#include "common/base/files.h"
#include "common/base/stack/student_frame.h"
#include "common/checks/check_report.h"
#include "common/checks/tests/small_lab.h"
#include "common/testing/get_message.h"
#include "common/testing/student/crashing.h"
#include "common/testing/test.h"

namespace lab::testing {
namespace {

using nlohmann::literals::operator""_json;

SmallTask renamed(SmallTask task, const std::string& id) {
  task.test_case.task = id;
  task.test_case.name = id.substr(id.find('.') + 1);
  return task;
}

TensorMap wrong_sum(Communicator& comm, const CaseInputs& inputs) {
  const at::Tensor mean = summed(comm, read_x(inputs)) / comm.size();
  return {{"out", mean}, {"x", mean}};
}

TensorMap stuck_sum(Communicator& comm, const CaseInputs& inputs) {
  const at::Tensor x = read_x(inputs);
  comm.point_to_point().recv(x, (comm.rank() + 1) % comm.size());
  return {{"out", x}, {"x", x}};
}

TensorMap leaving_sum(Communicator& comm, const CaseInputs& inputs) {
  if (comm.rank() == 1) ::_exit(0);
  return {{"out", summed(comm, read_x(inputs))}, {"x", read_x(inputs)}};
}

TensorMap crashing_sum(Communicator& comm, const CaseInputs& inputs) {
  if (comm.rank() == 0) std::raise(SIGKILL);
  return {{"out", summed(comm, read_x(inputs))}, {"x", read_x(inputs)}};
}

/// A TODO that only one rank reaches, while the others wait for it.
TensorMap todo_on_one(Communicator& comm, const CaseInputs& inputs) {
  if (comm.rank() == 1) not_implemented("a0.helper");
  return {{"out", summed(comm, read_x(inputs))}, {"x", read_x(inputs)}};
}

/// Right results, and a receive that is never waited for.
TensorMap littering_sum(Communicator& comm, const CaseInputs& inputs) {
  const at::Tensor theirs = at::zeros({1});
  { const Request dropped = comm.point_to_point().irecv(theirs, 1 - comm.rank()); }
  const at::Tensor sum = summed(comm, read_x(inputs));
  return {{"out", sum}, {"x", sum}};
}

/// The sum of two ranks; reads what it receives before that is complete.
TensorMap hasty_sum(Communicator& comm, const CaseInputs& inputs) {
  PointToPoint& p2p = comm.point_to_point();
  const at::Tensor own = read_x(inputs).clone(), theirs = at::zeros_like(own);
  Request receive = p2p.irecv(theirs, 1 - comm.rank());
  p2p.send(own, 1 - comm.rank());
  const at::Tensor sum = own + theirs;
  receive.wait();
  return {{"out", sum}, {"x", sum}};
}

/// The sum of two ranks; keeps the request of its send, and never waits for it.
TensorMap forgetful_sum(Communicator& comm, const CaseInputs& inputs) {
  static std::vector<Request> kept;
  PointToPoint& p2p = comm.point_to_point();
  const at::Tensor own = read_x(inputs).clone(), theirs = at::zeros_like(own);
  kept.push_back(p2p.isend(own, 1 - comm.rank()));
  p2p.recv(theirs, 1 - comm.rank());
  return {{"out", own + theirs}, {"x", own + theirs}};
}

/// Right results; and writes into whatever files in memory its process has.
TensorMap spoiling_sum(Communicator& comm, const CaseInputs& inputs) {
  const TensorMap sum = sum_task().right(comm, inputs);
  for (int fd = 3; fd < 64; ++fd) {
    std::error_code none;
    const std::string link = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", fd), none).string();
    if (contains(link, "memfd:results")) CHECK(write_fully(fd, "spoilt") == 0);
  }
  return sum;
}

struct Table {
  std::vector<Case> cases;
  CallTable calls;

  void add(const std::string& id, const TaskCall& call) {
    cases.push_back(renamed(sum_task(), id).test_case);
    calls[id] = call;
  }
};

std::vector<TaskOutcome> list_checks(const Table& table, launch::WorldSpec world) {
  world.num_ranks = 2;
  return make_outcomes(run_checks(table.cases, table.calls, world, 42));
}

std::vector<TaskOutcome> list_checks(const Table& table, launch::WorldKind kind = launch::WorldKind::kProcesses) {
  launch::WorldSpec world;
  world.kind = kind;
  return list_checks(table, world);
}

TEST_CASE("each task gets its own end, whatever the others do to their worlds") {
  Table table;
  table.add("a0.right", sum_task().right);
  table.add("a0.wrong", wrong_sum);
  table.add("a0.stuck", stuck_sum);
  table.add("a0.todo_on_one", todo_on_one);
  table.add("a0.leaves", leaving_sum);
  table.add("a0.crashes", crashing_sum);
  table.add("a0.litters", littering_sum);
  table.add("a0.right_again", sum_task().right);
  const std::vector<TaskOutcome> checks = list_checks(table);
  REQUIRE(checks.size() == 8);
  const std::vector<int> exit_codes = {0, 1, 6, 3, 6, 137, 4, 0};
  for (std::size_t i = 0; i < checks.size(); ++i) {
    CAPTURE(checks[i].id);
    CAPTURE(i);
    // A rank that has left is noticed by the launcher (6) or by its peer (5), whichever is first.
    if (checks[i].id != "a0.leaves" || choose_exit_code(checks[i]) != 5)
      CHECK(choose_exit_code(checks[i]) == exit_codes[i]);
    CHECK(checks[i].passed() == (exit_codes[i] == 0));
  }
  CHECK(checks[1].checks[0].symptom.id == "divided_by_world_size");
  CHECK(checks[2].checks[0].symptom.id == "deadlock");
  CHECK(contains(checks[2].checks[0].failure, "deadlock: rank 0 waits"));
  CHECK(checks[3].missing_task == "a0.helper");
  CHECK(contains(checks[4].checks[0].failure, "rank 1"));  // it has left, so rank 0 waits in vain
  CHECK(contains(checks[5].checks[0].failure, "SIGKILL"));
  CHECK(checks[6].checks[0].symptom.id == "stray_message");
}

TEST_CASE("a crash, an index out of range and a loop without end have the student's line, and what to type next") {
  const auto on_rank_one = [](const std::function<void()>& body) {
    return [body](Communicator& comm, const CaseInputs& inputs) {
      if (comm.rank() == 1) body();
      return sum_task().right(comm, inputs);
    };
  };
  Table table;
  table.add("a0.crashes", on_rank_one([] { follow(nullptr); }));
  table.add("a0.divides", on_rank_one([] { divide(1, 0); }));
  table.add("a0.indexes", on_rank_one([] { find_element({1, 2}, 2); }));
  table.add("a0.loops", on_rank_one([] { loop_while(true); }));
  launch::WorldSpec world;
  world.kind = launch::WorldKind::kProcesses;
  world.timeout_seconds = 0.5;
  const std::vector<TaskOutcome> checks = list_checks(table, world);
  CallStack stack;
  stack.capture();
  if (!student_frame(stack).known) return;  // built without libbacktrace
  const auto get_message = [&](int line, const std::string& status, const std::string& name, const std::string& cause) {
    return fmt::format(
        "rank 1: {} in a0.{}, {} at student/crashing.cpp:{}: {}; hint: ./lab run a0 run {} --nproc 2 --debug-rank 1",
        status, name, name, line, cause, name);
  };
  const auto check = [&](std::size_t task) { return checks[task].checks[0]; };
  CHECK(check(0).failure_code == 139);
  CHECK(check(0).failure ==
        get_message(kFollowLine, "killed by signal 11 (SIGSEGV)", "crashes", "a null pointer is followed"));
  CHECK(check(1).failure_code == 136);
  CHECK(check(1).failure ==
        get_message(kDivideLine, "killed by signal 8 (SIGFPE)", "divides", "an integer is divided by zero"));
  CHECK(check(2).failure_code == 7);
  CHECK(check(2).failure == get_message(kElementLine, "exited with code 7", "indexes",
                                        "an index is out of range: expected __n < this->size()"));
  CHECK(check(3).failure_code == 5);
  CHECK(contains(check(3).failure, "late: rank 1 computes in a0.loops, loops at student/crashing.cpp:"));
  REQUIRE(checks[3].checks[0].rank_lines.size() == 2);
  CHECK(contains(checks[3].checks[0].rank_lines[1], "rank 1 computes in a0.loops, loops at student/crashing.cpp:"));
}

TEST_CASE("a wrong check that communicates has its own part of the run as a timeline, a stuck one its waits in vain") {
  Table table;
  table.add("a0.right", sum_task().right);
  table.add("a0.wrong", wrong_sum);
  table.add("a0.silent", [](Communicator&, const CaseInputs& inputs) {
    const at::Tensor x = read_x(inputs);
    return TensorMap{{"out", x + x}, {"x", x}};
  });
  table.add("a0.silent_but_must_send", table.calls.at("a0.silent"));
  CostBound bound;
  bound.min_messages = 1;
  table.cases.back().bounds = on_every_rank({bound});
  table.add("a0.stuck", stuck_sum);
  table.add("a0.todo_on_one", todo_on_one);
  table.add("a0.throws", [](Communicator& comm, const CaseInputs& inputs) -> TensorMap {
    summed(comm, read_x(inputs));
    throw ContractError("no");
  });
  const std::vector<TaskOutcome> checks = list_checks(table);
  std::map<std::string, nlohmann::json> timelines;
  for (const TaskOutcome& check : checks) {
    if (!check.checks[0].timeline.empty()) timelines[check.id] = nlohmann::json::parse(check.checks[0].timeline);
  }
  CHECK(timelines.size() == 3);
  const auto shapes = [&](const std::string& task, const char* kind) {
    CHECK(timelines.at(task).at("ranks") == 2);
    return timelines.at(task).at("clocks").at(0).at(kind);
  };
  int num_sums = 0;
  for (const nlohmann::json& box : shapes("a0.wrong", "boxes")) num_sums += box.at(3) == "all_reduce";
  CHECK(num_sums == 2);  // one on each rank, and none of the other cases'
  CHECK_FALSE(shapes("a0.wrong", "path").empty());
  CHECK(shapes("a0.silent_but_must_send", "arrows").empty());
  REQUIRE(shapes("a0.silent_but_must_send", "boxes").size() == 2);
  for (const nlohmann::json& box : shapes("a0.silent_but_must_send", "boxes")) {
    CHECK(box.at(2) == 3.6e-9);
    CHECK(box.at(3) == "computes");
  }
  REQUIRE(shapes("a0.stuck", "arrows").size() == 2);
  for (const nlohmann::json& arrow : shapes("a0.stuck", "arrows")) {
    CHECK(arrow.at(7) == true);
    CHECK(contains(arrow.at(5).get<std::string>(), "never sent"));
  }
}

TEST_CASE("a check that throws or hangs costs that check, and the task's others are run in a new world") {
  Table table;
  table.calls["a0.sum"] = [](Communicator& comm, const CaseInputs& inputs) {
    if (inputs.numbers.count("throws") != 0 && comm.rank() == 1)
      throw ContractError("view({-1}) of a transposed tensor");
    if (inputs.numbers.count("hangs") != 0) return stuck_sum(comm, inputs);
    return sum_task().right(comm, inputs);
  };
  for (const std::string name : {"first", "throws", "second", "hangs", "third"}) {
    Case one = renamed(sum_task(), "a0.sum").test_case;
    one.name = name;
    one.inputs = [inputs = one.inputs, name](const CasePlace& place) {
      CaseInputs more = inputs(place);
      more.numbers[name] = 1;
      return more;
    };
    table.cases.push_back(one);
  }
  const std::vector<TaskOutcome> checks = list_checks(table);
  REQUIRE(checks.size() == 1);
  REQUIRE(checks[0].checks.size() == 5);
  for (const CaseVerdict& checked : checks[0].checks) {
    CAPTURE(checked.name);
    const bool should_fail = checked.name == "throws" || checked.name == "hangs";
    CHECK(checked.passed() == !should_fail);
    CHECK(!checked.failure.empty() == should_fail);
  }
  CHECK(contains(checks[0].checks[1].failure, "transposed"));
  CHECK(contains(checks[0].checks[3].failure, "deadlock"));
  CHECK_FALSE(checks[0].passed());
}

TEST_CASE("what is written over a record ends its check, with the rank and what is wrong, and no other check") {
  Table table;
  table.add("a0.right", sum_task().right);
  table.add("a0.spoils", spoiling_sum);
  table.add("a0.right_again", sum_task().right);
  const std::vector<TaskOutcome> checks = list_checks(table);
  REQUIRE(checks.size() == 3);
  CHECK(checks[0].passed());
  CHECK_FALSE(checks[1].passed());
  CAPTURE(checks[1].checks[0].failure);
  CHECK(contains(checks[1].checks[0].failure, "rank 0: what it has left cannot be read: part "));
  CHECK(checks[2].passed());
}

TEST_CASE("a task alone that fails is not run twice") {
  Table table;
  table.add("a0.stuck", stuck_sum);
  const std::vector<TaskOutcome> checks = list_checks(table);
  REQUIRE(checks.size() == 1);
  CHECK(choose_exit_code(checks[0]) == 6);
  CHECK_FALSE(checks[0].passed());
}

TEST_CASE(
    "whatever a student's function returns or throws: one message with rank and cause; the other task stays right") {
  using Spoil = std::function<TensorMap(const at::Tensor& sum)>;
  const struct {
    const char* id;
    Spoil spoil;
    const char* message;
  } bad[] = {
      {"a0.none", [](const at::Tensor&) { return TensorMap{}; }, "rank 0, result 'out' is missing"},
      {"a0.one_more",
       [](const at::Tensor& sum) {
         return TensorMap{{"out", sum}, {"x", sum}, {"y", sum}};
       },
       "rank 0, result 'y' is not one of this task's"},
      {"a0.undefined",
       [](const at::Tensor& sum) {
         return TensorMap{{"out", at::Tensor()}, {"x", sum}};
       },
       "rank 0, result 'out' is undefined, expected"},
      {"a0.dtype",
       [](const at::Tensor& sum) {
         return TensorMap{{"out", sum.to(at::kHalf)}, {"x", sum}};
       },
       "rank 0, result 'out': expected"},
      {"a0.shape",
       [](const at::Tensor& sum) {
         return TensorMap{{"out", sum.flatten()}, {"x", sum}};
       },
       "rank 0, result 'out': expected"},
      {"a0.nan",
       [](const at::Tensor& sum) {
         return TensorMap{{"out", sum * NAN}, {"x", sum}};
       },
       "got nan"},
      {"a0.meta",
       [](const at::Tensor& sum) {
         return TensorMap{{"out", at::empty_like(sum, at::kMeta)}, {"x", sum}};
       },
       "rank 0: a0.meta [meta]: result 'out' is on device meta, expected cpu"},
      {"a0.complex",
       [](const at::Tensor& sum) {
         return TensorMap{{"out", at::complex(sum, sum)}, {"x", sum}};
       },
       "rank 0: a0.complex [complex]: result 'out' is complex"},
      {"a0.sparse",
       [](const at::Tensor& sum) {
         return TensorMap{{"out", sum.to_sparse()}, {"x", sum}};
       },
       "expected a dense tensor of real numbers"},
      {"a0.int", [](const at::Tensor&) -> TensorMap { throw 7; }, "something that is not an exception was thrown"},
      {"a0.text", [](const at::Tensor&) -> TensorMap { throw "seven"; },
       "something that is not an exception was thrown"},
      {"a0.bad_alloc", [](const at::Tensor&) -> TensorMap { throw std::bad_alloc(); }, "a0.bad_alloc [bad_alloc]:"}};
  Table table;
  for (const auto& one : bad) {
    table.add(one.id,
              [&one](Communicator& comm, const CaseInputs& inputs) { return one.spoil(summed(comm, read_x(inputs))); });
    table.add(std::string(one.id) + "_neighbour", sum_task().right);
  }
  for (const launch::WorldKind kind : {launch::WorldKind::kProcesses, launch::WorldKind::kRelay}) {
    const std::vector<TaskOutcome> checks = list_checks(table, kind);
    REQUIRE(checks.size() == 2 * std::size(bad));
    for (std::size_t i = 0; i < std::size(bad); ++i) {
      CAPTURE(bad[i].id);
      CHECK_FALSE(checks[2 * i].passed());
      CHECK(contains(checks[2 * i].checks[0].reason, bad[i].message));
      CHECK(checks[2 * i + 1].passed());
    }
  }
}

TEST_CASE("a request that is kept and never waited for is refused, with the line that posted it") {
  Table table;
  table.add("a0.forgetful", forgetful_sum);
  for (const launch::WorldKind kind : {launch::WorldKind::kProcesses, launch::WorldKind::kRelay}) {
    const std::vector<TaskOutcome> checks = list_checks(table, kind);
    REQUIRE(checks.size() == 1);
    CHECK(choose_exit_code(checks[0]) == static_cast<int>(ExitCode::kContract));
    CHECK(contains(checks[0].checks[0].reason, "has not waited for its isend to rank"));
  }
}

TEST_CASE("a shaken world finds the code whose result depends on when a message leaves, and no other") {
  Table table;
  table.add("a0.right", sum_task().right);
  table.add("a0.hasty", hasty_sum);
  launch::WorldSpec world;
  world.kind = launch::WorldKind::kRelay;
  int num_found = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    world.shake_seed = seed;
    const std::vector<TaskOutcome> checks = list_checks(table, world);
    REQUIRE(checks.size() == 2);
    CHECK(choose_exit_code(checks[0]) == 0);
    num_found += choose_exit_code(checks[1]) == static_cast<int>(ExitCode::kMismatch);
  }
  CHECK(num_found >= 3);
}

}  // namespace
}  // namespace lab::testing
