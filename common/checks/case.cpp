#include "common/checks/case.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "common/base/errors.h"
#include "common/base/failure.h"
#include "common/tensor/combined_comparison.h"
#include "common/tensor/compare.h"
#include "common/tensor/describe.h"

namespace lab {
namespace {

template <typename Map>
const typename Map::mapped_type& require(const Map& map, const std::string& name, const char* what) {
  const auto found = map.find(name);
  if (found == map.end()) throw ContractError(fmt::format("{} '{}' is missing", what, name));
  return found->second;
}

Comparison compare_all(const Case& test_case, const TensorMap& actual, const TensorMap& expected) {
  CombinedComparison all;
  for (const auto& [name, tensor] : actual) {
    if (expected.count(name) == 0) throw ContractError(fmt::format("{}: unexpected result '{}'", test_case.task, name));
  }
  for (const auto& [name, tensor] : expected) {
    const auto found = actual.find(name);
    if (found == actual.end())
      throw ContractError(fmt::format("{}: the call returns no result '{}'", test_case.task, name));
    if (!found->second.defined()) {  // such as a gradient that never arrived
      all.add_missing(tensor.numel());
      continue;
    }
    try {
      all.add(compare(found->second, tensor, test_case.tolerance), tensor.numel());
    } catch (const ContractError& failure) {
      throw ContractError(
          fmt::format("{} [{}], result '{}': {}", test_case.task, test_case.name, name, failure.what()));
    }
  }
  return all.result();
}

/// What was spent on an operation; on all together if the name is empty.
LedgerEntry entry_of(const std::vector<LedgerEntry>& entries, const std::string& operation) {
  LedgerEntry spent;
  spent.operation = operation;
  for (const LedgerEntry& entry : entries) {
    if (!operation.empty() && entry.operation != operation) continue;
    spent.calls += entry.calls;
    spent.messages += entry.messages;
    spent.bytes_sent += entry.bytes_sent;
    spent.bytes_received += entry.bytes_received;
    spent.rounds += entry.rounds;
  }
  return spent;
}

/// What the ledger counted between two readings.
std::vector<LedgerEntry> spent_between(const std::vector<LedgerEntry>& before, const std::vector<LedgerEntry>& after) {
  std::vector<LedgerEntry> spent;
  for (const LedgerEntry& later : after) {
    const LedgerEntry earlier = entry_of(before, later.operation);
    spent.push_back({later.operation, later.calls - earlier.calls, later.messages - earlier.messages,
                     later.bytes_sent - earlier.bytes_sent, later.bytes_received - earlier.bytes_received,
                     later.rounds - earlier.rounds});
  }
  return spent;
}

/// Why the bound is violated; empty: it is not.
std::string beyond(const CostBound& bound, const LedgerEntry& spent) {
  const struct {
    const char* what;
    std::uint64_t spent, least, most;
  } counts[] = {{"calls", spent.calls, 0, bound.max_calls},
                {"messages sent", spent.messages, bound.min_messages, bound.max_messages},
                {"bytes sent", spent.bytes_sent, 0, bound.max_bytes_sent},
                {"bytes received", spent.bytes_received, bound.min_bytes_received, CostBound::kAny},
                {"rounds", spent.rounds, bound.min_rounds, bound.max_rounds}};
  const std::string of = bound.operation.empty() ? "in all" : "of " + bound.operation;
  for (const auto& count : counts) {
    if (count.spent > count.most)
      return fmt::format("{} {} {}, expected at most {}", count.spent, count.what, of, count.most);
    if (count.spent < count.least)
      return fmt::format("{} {} {}, expected at least {}", count.spent, count.what, of, count.least);
  }
  return "";
}

/// "input.x float32 [4, 6], weight.W float32 [3, 6]"
std::string shapes_of(const TensorMap& tensors) {
  constexpr std::size_t kMostNamed = 8;  // a model has many weights
  std::string text;
  std::size_t num_named = 0;
  for (const auto& [name, tensor] : tensors) {
    if (num_named == kMostNamed) return text + fmt::format(" and {} more", tensors.size() - kMostNamed);
    text += fmt::format("{}{} {}", num_named++ == 0 ? "" : ", ", name, describe(tensor));
  }
  return text.empty() ? "none" : text;
}

/// What the task's call threw, as the error of exit code 7 that names the case. Null: no exception.
Error thrown_by_student(const Case& test_case, const CaseInputs& inputs, const std::exception* failure) {
  std::string what = student_message(failure);
  if (what.back() == '.') what.pop_back();
  return {ExitCode::kStudentCode,
          fmt::format("{} [{}]: {}; inputs: {}", test_case.task, test_case.name, what, shapes_of(inputs.tensors))};
}

}  // namespace

const at::Tensor& CaseInputs::tensor(const std::string& name) const {
  return require(tensors, name, "input tensor");
}
double CaseInputs::number(const std::string& name) const {
  return require(numbers, name, "input number");
}
std::int64_t CaseInputs::integer(const std::string& name) const {
  return static_cast<std::int64_t>(number(name));
}

std::string skip_reason_of(const Case& test_case, int size) {
  return test_case.skip_reason ? test_case.skip_reason(size) : "";
}

bool is_asked(const Case& test_case, int rank) {
  return rank == 0 || !test_case.only_rank_zero;
}

CaseRun perform_case(const Case& test_case, const CallTable& calls, Communicator& comm, std::uint64_t seed,
                     at::Device device) {
  const TaskCall& call = require(calls, test_case.task, "the call of task");
  CaseRun run;
  run.inputs = test_case.inputs({comm.rank(), comm.size(), seed});
  run.inputs.device = device;
  for (auto& [name, tensor] : run.inputs.tensors) tensor = tensor.to(device);
  const std::vector<LedgerEntry> before = comm.endpoint().ledger().entries();
  comm.endpoint().restart_clock();
  comm.endpoint().transport().set_task(fmt::format("{}, {}", test_case.task, test_case.name));
  {
    const LedgerScope scope(comm.endpoint(), test_case.task);
    try {
      run.actual = call(comm, run.inputs);
      for (auto& [name, tensor] : run.actual) {
        if (tensor.defined()) tensor = tensor.cpu();
      }
    } catch (const Error&) {
      throw;
    } catch (const std::exception& failure) {
      throw thrown_by_student(test_case, run.inputs, &failure);
    } catch (...) {
      throw thrown_by_student(test_case, run.inputs, nullptr);
    }
  }
  comm.endpoint().transport().set_task("");
  run.spent = spent_between(before, comm.endpoint().ledger().entries());
  return run;
}

std::string beyond_bounds(const Case& test_case, const CasePlace& place, const std::vector<LedgerEntry>& spent) {
  if (!test_case.bounds) return "";
  for (const CostBound& bound : test_case.bounds(place)) {
    const std::string words = beyond(bound, entry_of(spent, bound.operation));
    if (!words.empty()) return words;
  }
  return "";
}

CaseResult run_case(const Case& test_case, const CallTable& calls, Communicator& comm, std::uint64_t seed,
                    at::Device device) {
  CaseResult result;
  result.skipped = skip_reason_of(test_case, comm.size());
  if (!result.skipped.empty()) return result;
  const CasePlace place{comm.rank(), comm.size(), seed};
  CaseRun run = perform_case(test_case, calls, comm, seed, device);
  result.inputs = std::move(run.inputs);
  result.actual = std::move(run.actual);
  result.over_budget = beyond_bounds(test_case, place, run.spent);
  result.expected = test_case.expected(place);
  result.comparison = compare_all(test_case, result.actual, result.expected);
  return result;
}

}  // namespace lab
