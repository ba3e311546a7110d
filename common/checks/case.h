#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/api/compare.h"
#include "common/api/tensor_map.h"
#include "common/base/costs.h"
#include "common/rank/record.h"
#include "common/rank/task_call.h"

// One table of cases per lab has three users: the tests (ranks are threads), the lab's binary (match lines) and the
// grader. It holds no student code: expected results are computed another way.
namespace lab {

/// Where and with what a case is run.
struct CasePlace {
  int rank = 0;
  int size = 1;
  std::uint64_t seed = 42;
};

/// What one operation may cost a rank, by the ledger. A task's own point-to-point messages are counted under its id.
struct CostBound {
  static constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();

  std::string operation;  ///< empty: all operations together
  std::uint64_t max_calls = kAny;
  std::uint64_t max_messages = kAny;  ///< sent
  std::uint64_t max_bytes_sent = kAny;
  std::uint64_t max_rounds = kAny;  ///< messages that wait for each other, counted from the beginning of the case
  std::uint64_t min_messages = 0;   ///< sent
  std::uint64_t min_rounds = 0;
  std::uint64_t min_bytes_received = 0;                         ///< the result cannot arrive with less
  std::uint64_t min_destinations = 0, max_destinations = kAny;  ///< ranks that it sends to
  /// Whether it must, or must not, receive from exactly those that it sends to.
  enum class Partners { kAny, kBothWays, kOneWay } partners = Partners::kAny;
};

/// What a case may cost a rank.
using CostBounds = std::function<std::vector<CostBound>(const CasePlace&)>;

/// The same bounds on every rank.
inline CostBounds on_every_rank(const std::vector<CostBound>& bounds) {
  return [bounds](const CasePlace&) { return bounds; };
}

/// How much a rank may compute or hold, and how much one process does or holds that does the whole task alone, which is
/// what a message compares with.
struct ShareBound {
  std::int64_t of_one_process = 0;
  std::int64_t most = 0;
};

/// How long all ranks together may take, in model time (comm/model_time.md). The time in which they could do it, such as
/// the makespan of a schedule, is what the message compares with.
struct TimeBound {
  static constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

  std::int64_t needed_ps = 0;
  std::int64_t max_ps = 0;
  std::string unit = "rank";  ///< what the ranks are called here: "stage"
  /// How long each rank may wait for messages: what decides where these should travel while the rank works.
  std::int64_t max_waiting_ps = kAny;
};

/// A well-known wrong result of a case. The judging process computes it, for any rank.
struct KnownMistake {
  std::string id;       ///< "local_variance"
  std::string message;  ///< what it is, for the author of the code
  /// The results that this mistake gives on one rank; those that stay right may be omitted.
  std::function<TensorMap(const CasePlace&)> wrong;
};

/// One check of one task.
struct Case {
  std::string task;             ///< "a4.column_parallel"
  std::string name;             ///< "InputGrad"; also names the saved tensors
  std::string prefix;           ///< of its match line: the name, except where a handout prints none
  bool only_rank_zero = false;  ///< needs no other rank, and only rank 0 runs and prints it
  bool costly = false;          ///< takes so long that it is judged on few world sizes (RubricJudging::cheap_ranks)
  /// Why it is called only once, such as a whole training; empty: it is called twice in one process (num_calls()).
  std::string once = {};
  bool retains = false;  ///< a rank held more after the second call than after the first: does the third add as much?
  bool earns_alone = true;  ///< false: who does nothing is right here, which earns no marks by itself
  /// This rank's inputs.
  std::function<CaseInputs(const CasePlace&)> inputs;
  /// Leaves of this rank's inputs what a right solution may read here. The rest, such as other ranks' rows of a batch,
  /// is poisoned (tensor/exact_data.h) or erased. If the task gets a seed, everything that its provided functions return
  /// must be among them: a judged rank gets it from there (rank/sent_tensors.h). Empty: all is kept.
  std::function<void(const CasePlace&, TensorMap& inputs)> keep_own_part;
  /// What the task must return on this rank, from the inputs alone; may also look at the inputs of other ranks through
  /// `inputs`.
  std::function<TensorMap(const CasePlace&)> expected;
  Tolerance tolerance;
  /// Names of results that must be equal to the bit on all ranks, although sums are rounded in some order. Known once
  /// all ranks have returned, so a match line does not depend on it.
  std::vector<std::string> same_on_all_ranks;
  /// What it may cost this rank; operations that no bound names must not happen, except those that only synchronise
  /// (barrier, agree). Empty: anything.
  CostBounds bounds;
  /// What this rank may compute, in floating-point operations by the work meter (tensor/meters/work_meter.h); empty:
  /// anything.
  std::function<ShareBound(const CasePlace&)> work;
  /// The most bytes of tensors made by the call that this rank may hold at a time; empty: any number. A second call may
  /// not add to what the first has left, in any case.
  std::function<ShareBound(const CasePlace&)> memory;
  /// How long it may take; empty: any time.
  std::function<TimeBound(int size, std::uint64_t seed)> time;
  /// The reason not to run on `size` ranks; empty: run.
  std::function<std::string(int size)> skip_reason;
  /// What find_symptom() looks for before the mistakes that any task can make.
  std::vector<KnownMistake> known_mistakes;
  /// What an element of a result that is a table stands for, for messages: "layer 3 of 4 on 3 stages". Empty: its index
  /// says it.
  std::function<std::string(const CasePlace&, const std::string& result, at::IntArrayRef index)> meaning;
};

/// The cases, those of these names costly.
/// Errors    ContractError: there is none of a name
std::vector<Case> with_costly(std::vector<Case> cases, const std::vector<std::string>& names);

/// The reason that the case is skipped on `size` ranks; empty: it runs.
std::string find_skip_reason(const Case& test_case, int size);

/// What one process uses that does the whole case, by its bounds: operations, the model time that these take, and peak
/// bytes; 0 where there is no bound.
ResourceUse use_of_one_process(const Case& test_case, const CasePlace& place);

/// How often a case is called where it is checked, each time with other data of the same sizes. `lab run` calls it once.
int num_calls(const Case& test_case);

/// The seed of the data of a case's n-th call, n = 1, 2, 3: of the first, the run's own.
std::uint64_t seed_of_call(std::uint64_t seed, int call);

/// True on the ranks that run the case.
bool is_asked(const Case& test_case, int rank);

/// What a rank gets of the inputs of one of the case's calls, with the case's task and name. The seed is that call's.
CaseInputs judged_inputs(const Case& test_case, CasePlace place, int call = 1);

/// One rank's part of a case: what it was given, what it did, and how that compares with what the case expects there.
struct CaseResult {
  CaseInputs inputs;  ///< whole, also what the rank did not get
  TensorMap expected;
  CaseRecord record;
  Comparison comparison;  ///< over all results: worst differences, mean over all elements; not close if any is wrong
  /// The first problem with the results, in order of their names; empty: none. "result 'out', element [3, 0]: expected
  /// 10, got 2.5 (max diff 7.5; 12 of 12 elements differ)"; "result 'x.grad' is undefined, expected float32 [2]"
  std::string wrong;
  /// The error of the first result that is unknown, missing, or of another shape or dtype, for the run that ends with
  /// it; empty: none.
  std::string malformed;
  std::string over_budget;  ///< the first bound violated: "3 calls of all_reduce, expected at most 2"; empty: none

  bool passed() const { return over_budget.empty() && comparison.close; }
};

/// Compares what a rank returned, spent and used by its record with what the case expects there. Whatever is in the
/// record, it throws nothing.
void compare_case(const Case& test_case, const CasePlace& place, CaseResult& result);

/// Performs the case with the lab's own call of its task and compares its results. On a GPU with four times its relative
/// norm in float32, and without bounds on the CPU's memory. The caller must check find_skip_reason() itself.
/// Errors    ContractError: a malformed result; as perform_and_keep(), and NotImplementedError at a TODO
CaseResult run_case(const Case& test_case, const CallTable& calls, Communicator& comm, std::uint64_t seed,
                    at::Device device = at::kCPU);

/// True if the name refers to this case: "BroadcastLarge", or its task's "a9.broadcast" or "broadcast".
bool is_named(const Case& test_case, const std::string& name);

/// The cases that the name refers to, in order. `command` is the subcommand that was given the name, such as `run`.
/// Errors    UsageError: there is none
std::vector<Case> named_cases(const std::vector<Case>& cases, const std::string& name, const std::string& command);

/// The cases of one task, by its id, in order; may be empty.
std::vector<Case> cases_of_task(const std::vector<Case>& cases, const std::string& task);

/// Each task's id once, in the order of the cases.
std::vector<std::string> list_tasks(const std::vector<Case>& cases);

}  // namespace lab
