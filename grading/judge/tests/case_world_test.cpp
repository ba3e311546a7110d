#include <fmt/format.h>

#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include "common/api/errors.h"
#include "common/base/own_core.h"
#include "common/base/stack/student_frame.h"
#include "common/comm/relay/relay_world.h"
#include "common/testing/get_message.h"
#include "common/testing/student/crashing.h"
#include "common/testing/test.h"
#include "grading/judge/check_runs.h"

namespace lab::grading {
namespace {

using testing::contains;

/// A task of strange_rank.cpp on x = [1, 1, 1].
Case strange(const std::string& task, const std::string& name) {
  Case test_case;
  test_case.task = "a0." + task;
  test_case.name = name;
  test_case.inputs = [](const CasePlace&) {
    CaseInputs inputs;
    inputs.tensors = {{"x", at::ones({3}, at::kDouble)}};
    return inputs;
  };
  return test_case;
}

std::string strange_rank() {
  const char* const folder = std::getenv("LAB_BIN_DIR");
  REQUIRE(folder != nullptr);
  return std::string(folder) + "/grading_strange_rank";
}

/// How long a rank may be silent: longer than any does on a busy machine.
constexpr double kStallSeconds = 60;

CaseWorld run_on(RankServer& server, const std::vector<Case>& cases, double stall_seconds = kStallSeconds) {
  CaseWorldSpec spec;
  spec.num_ranks = 2;
  spec.cases = cases;
  spec.stall_seconds = stall_seconds;
  return run_case_world(server, spec);
}

CaseWorld run(const std::vector<Case>& cases, double stall_seconds = kStallSeconds) {
  static const Sandbox sandbox = Sandbox::detect();
  static RankServer server(sandbox, strange_rank());
  return run_on(server, cases, stall_seconds);
}

std::string failure_message(const CaseWorld& world) {
  return world.failure ? world.failure->message : "it has not failed";
}

const Case kDouble = strange("double", "Double");

cpu_set_t usable_by(pid_t process) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  ::sched_getaffinity(process, sizeof cores, &cores);
  return cores;
}

TEST_CASE("records come back by rank, and a run that ends in order has not failed") {
  Case alone = strange("double", "Alone");
  alone.only_rank_zero = true;
  const CaseWorld world = run({kDouble, alone, strange("double", "Again")});
  CHECK(failure_message(world) == "it has not failed");
  CHECK_FALSE(world.is_machines_fault);
  for (const int rank : {0, 1}) {
    for (const std::string name : {"Double", "Again"}) {
      const CaseRecord* record = world.find(rank, strange("double", name));
      REQUIRE(record != nullptr);
      CHECK(at::equal(record->results.at("y"), at::full({3}, 2, at::kDouble)));
    }
    CHECK((world.find(rank, alone) != nullptr) == (rank == 0));
  }
  CHECK(world.find(0, strange("double", "Other")) == nullptr);
}

TEST_CASE("all ranks of a world stay on one core, and the judge's thread may use all of its own afterwards") {
  const cpu_set_t before = usable_by(0);
  const Case bound = strange("is_bound", "Bound");
  const CaseWorld world = run({bound});
  REQUIRE(failure_message(world) == "it has not failed");
  const auto core = [&](int rank) { return world.find(rank, bound)->results.at("core").item<double>(); };
  CHECK(core(0) >= 0);
  CHECK(core(0) == core(1));
  const cpu_set_t after = usable_by(0);
  CHECK(CPU_EQUAL(&before, &after));
}

TEST_CASE("what a rank uses is seen, whatever it counts") {
  const Case unseen = strange("works_unseen", "Unseen");
  const CaseWorld world = run({kDouble, unseen, strange("double", "Again")});
  CHECK(failure_message(world) == "it has not failed");
  const auto make_record = [&](int rank, const Case& test_case) {
    const CaseRecord* record = world.find(rank, test_case);
    REQUIRE(record != nullptr);
    return *record;
  };
  const CaseRecord honest = make_record(0, unseen), busy = make_record(1, unseen);
  CHECK(busy.seen.cpu_seconds > 0.9);
  CHECK(busy.seen.peak_bytes > (190 << 20));
  CHECK(busy.used.memory.peak_bytes < 1000);
  CHECK(busy.used.memory.peak_bytes >= 24);
  CHECK(busy.used.flops == 3);  // three elements are doubled
  CHECK(honest.seen.cpu_seconds < 0.5);
  CHECK(honest.seen.peak_bytes < (64 << 20));
  CHECK(make_record(1, strange("double", "Again")).seen.cpu_seconds < 0.5);
}

TEST_CASE("printed text is not a record") {
  const CaseWorld world = run({strange("prints", "Double")});
  CHECK(contains(failure_message(world), "exited with code 0"));
  CHECK(world.find(0, strange("prints", "Double")) == nullptr);
}

TEST_CASE("a rank that reports what it was not asked for ends its world, which keeps what it had") {
  CHECK(contains(failure_message(run({kDouble, strange("twice", "Twice")})), "a result that was not asked for"));
  const CaseWorld other = run({kDouble, strange("other", "Other")});
  CHECK(contains(failure_message(other), "a result of Double in place of Other"));
  CHECK(other.find(0, kDouble) != nullptr);
  CHECK(contains(failure_message(run({strange("junk", "Junk")})), "rank "));
}

TEST_CASE("a failed run has a message: what the rank said, else how it ended and what it printed") {
  const CaseWorld late = run({strange("is_late", "Late")});
  CHECK(failure_message(late) == "rank 1: it is late");
  CHECK(late.failure->exit_code == static_cast<int>(ExitCode::kContract));
  CHECK(failure_message(run({strange("exits", "Exits")})) == "rank 1 exited with code 3; it printed: oops");
  const CaseWorld deadlock = run({strange("waits", "Waits")});
  CHECK(contains(failure_message(deadlock), "deadlock: rank 0 waits to receive 24 B from rank 1"));
  CHECK(deadlock.failure->exit_code == static_cast<int>(ExitCode::kDeadlock));
}

TEST_CASE("a crash, an index out of range and an endless loop have the student's line") {
  CallStack stack;
  stack.capture();
  const bool has_lines = student_frame(stack).known;
  const auto at = [&](int line) { return has_lines ? fmt::format(" at student/crashing.cpp:{}", line) : ""; };
  const CaseWorld crash = run({strange("crashes", "Crashes")}), index = run({strange("indexes", "Indexes")});
  CHECK(failure_message(crash) ==
        "rank 1 was killed by signal 11" + at(testing::kFollowLine) + ": a null pointer is followed");
  CHECK(crash.failure->crashed_rank == 1);
  CHECK(failure_message(index) == "rank 1 exited with code 7" + at(testing::kElementLine) +
                                      ": an index is out of range: expected __n < this->size()");
  const std::string loop = failure_message(run({strange("spins", "Spins")}, 2));
  CHECK_MESSAGE(contains(loop, "rank 1 timed out: no new result in "), loop);
  CHECK_MESSAGE(contains(loop, has_lines ? " at student/crashing.cpp:" : ""), loop);
}

TEST_CASE("what each rank did in a case is traced by the relay, also where the ranks are stuck") {
  const CaseWorld right = run({kDouble, strange("double", "Again")});
  CHECK(right.stuck_ranks.empty());
  for (const std::vector<CaseTrace>& of_rank : right.traces) {
    REQUIRE(of_rank.size() == 4);
    CHECK(of_rank[2].name == "Again");
    CHECK(of_rank[3].call == 2);
    CHECK(of_rank[3].events.empty());
    CHECK(of_rank[3].length_ps == 300);  // three operations
  }
  CHECK(right.plan_timeline(kDouble, 42, 1).empty());
  const Case waits = strange("waits", "Waits");
  const CaseWorld deadlock = run({waits});
  CHECK_FALSE(deadlock.stuck_ranks.empty());
  CHECK(contains(deadlock.plan_timeline(waits, 42, 1),
                 "recv from rank 1 to rank 0: 24 B, never sent, strange_rank.cpp:"));
  CHECK(deadlock.plan_timeline(waits, 42, 1) == run({waits}).plan_timeline(waits, 42, 1));
  const Case late = strange("is_late", "Late");
  CHECK(run({late}).plan_timeline(late, 42, 1).empty());  // how far rank 0 had come depends on the machine
  const Case spins = strange("spins", "Spins");
  CHECK(run({spins}, 2).stuck_ranks == std::vector<int>{0, 1});
}

/// Runs a task that tries ways out, under bubblewrap or not: none of them may be open, on any rank.
void check_ways_are_closed(const std::string& task, std::int64_t num_ways) {
  for (const bool isolated : {true, false}) {
    const Sandbox sandbox = Sandbox::detect(isolated);
    RankServer server(sandbox, strange_rank());
    const CaseWorld world = run_on(server, {strange(task, "Reaches")});
    CHECK(failure_message(world) == "it has not failed");
    for (const int rank : {0, 1}) {
      const CaseRecord* record = world.find(rank, strange(task, "Reaches"));
      REQUIRE(record != nullptr);
      const at::Tensor& open_ways = record->results.at("open");
      CAPTURE(open_ways);
      CHECK(open_ways.numel() == num_ways);
      CHECK(open_ways.sum().item<double>() == 0);
    }
  }
}

TEST_CASE("a rank can do nothing but compute and send") {
  check_ways_are_closed("reaches_out", 42);
}

TEST_CASE("what runs in the server before them can give ranks nothing to share") {
  check_ways_are_closed("reaches_out_early", 7);
}

TEST_CASE("one server makes the ranks of one world after the other, also after one that had to be killed") {
  const Sandbox sandbox = Sandbox::detect();
  RankServer server(sandbox, strange_rank());
  CaseWorldSpec spec;
  for (const auto& [num_ranks, task] : {std::pair(2, "double"), std::pair(3, "spins"), std::pair(3, "double"),
                                        std::pair(1, "double"), std::pair(4, "exits"), std::pair(4, "double")}) {
    spec.num_ranks = num_ranks;
    spec.stall_seconds = std::string(task) == "spins" ? 2 : kStallSeconds;
    spec.cases = {strange(task, "Case")};
    const CaseWorld world = run_case_world(server, spec);
    CAPTURE(num_ranks);
    CAPTURE(task);
    CHECK(world.num_started == num_ranks);
    CHECK(world.failure.has_value() == (std::string(task) != "double"));
  }
}

TEST_CASE(
    "a rank that has not begun is looked at through its server, which may still load its libraries; then it stays on "
    "its core") {
  const Sandbox sandbox = Sandbox::detect();
  RankServer server(sandbox, strange_rank());
  comm::RelayWorld relay(2, {});
  std::set<pid_t> loading, begun;
  std::vector<StartedJob> ranks;
  const std::optional<cpu_set_t> core = current_core();
  for (const int rank : {0, 1})
    ranks.push_back(server.start(rank, 2, false, relay.rank_end(rank), rank == 0 ? core : std::nullopt));
  for (const StartedJob& rank : ranks) loading.insert(rank.job->pid());
  REQUIRE(loading.size() == 1);
  CHECK(*loading.begin() > 0);
  // They begin, and then wait for the relay.
  while (begun.size() < 2 || begun.count(*loading.begin()) != 0) {
    begun.clear();
    for (const StartedJob& rank : ranks) {
      REQUIRE_FALSE(rank.job->wait_for(0.01));
      begun.insert(rank.job->pid());
    }
  }
  REQUIRE(core);
  const cpu_set_t ours = usable_by(0), first = usable_by(ranks[0].job->pid()), second = usable_by(ranks[1].job->pid());
  CHECK(CPU_EQUAL(&*core, &first));
  CHECK(CPU_EQUAL(&ours, &second));
}

TEST_CASE("who computes something alone, from the whole of the data, remembers nothing of it beside the others") {
  const Sandbox sandbox = Sandbox::detect();
  const CheckRunner runner{std::make_shared<RankServer>(sandbox, strange_rank()), 42, 2};
  Case together = strange("remembers", "Together"), alone = strange("remembers", "Alone");
  together.expected = alone.expected = [](const CasePlace&) { return TensorMap{{"calls", at::ones({}, at::kDouble)}}; };
  alone.only_rank_zero = true;
  together.once = alone.once = "it counts its calls";
  for (const auto& cases : {std::vector<Case>{alone, together}, {together, alone}}) {
    const std::vector<CaseVerdict> checked = runner.run(2, cases);
    CHECK(checked.at(0).passed());
    CHECK(checked.at(1).passed());
  }
}

TEST_CASE("a run that brings nothing new is ended, and keeps what it had brought") {
  const CaseWorld world = run({kDouble, strange("spins", "Spins")}, 2);
  CHECK(world.results[1].end == SandboxResult::End::kStalled);
  CHECK(contains(failure_message(world), "timed out: no new result"));
  CHECK(world.find(1, kDouble) != nullptr);
  CHECK(world.find(0, strange("spins", "Spins")) != nullptr);
}

TEST_CASE("costs are what the relay counted, in each case anew, whatever a rank claims") {
  const CaseWorld world = run({strange("spends", "First"), strange("spends", "Second")});
  CHECK(failure_message(world) == "it has not failed");
  for (const std::string name : {"First", "Second"}) {
    for (const int rank : {0, 1}) {
      const CaseRecord* record = world.find(rank, strange("spends", name));
      REQUIRE(record != nullptr);
      REQUIRE(record->spent.size() == 3);
      CHECK(record->spent[0].operation == "all_gather");
      CHECK(record->spent[0].calls == 1);
      CHECK(record->spent[1].operation == "all_reduce");
      CHECK(record->spent[1].bytes_sent == 24);
      CHECK(record->spent[2].operation == "a0.spends");
      CHECK(record->spent[2].messages == 1);
      CHECK(record->spent[2].bytes_sent == 24);
      CHECK(record->spent[2].bytes_received == 24);
      CHECK(record->spent[2].rounds == 2);
    }
  }
}

}  // namespace
}  // namespace lab::grading
