#include "common/lab/case.h"

#include <fmt/format.h>

#include "common/report/errors.h"
#include "common/tensor/combined_comparison.h"
#include "common/tensor/compare.h"

namespace lab {
namespace {

template <typename Map>
const typename Map::mapped_type& require(const Map& map, const std::string& name, const char* what) {
  const auto found = map.find(name);
  if (found == map.end()) throw ContractError(fmt::format("{} '{}' is missing", what, name));
  return found->second;
}

Comparison compare_all(const Case& the_case, const TensorMap& actual, const TensorMap& expected) {
  CombinedComparison all;
  for (const auto& [name, tensor] : actual) {
    if (expected.count(name) == 0) throw ContractError(fmt::format("{}: unexpected result '{}'", the_case.task, name));
  }
  for (const auto& [name, tensor] : expected) {
    const auto found = actual.find(name);
    if (found == actual.end())
      throw ContractError(fmt::format("{}: the call returns no result '{}'", the_case.task, name));
    if (!found->second.defined()) {  // such as a gradient that never arrived
      all.add_missing(tensor.numel());
      continue;
    }
    try {
      all.add(compare(found->second, tensor, the_case.tolerance), tensor.numel());
    } catch (const ContractError& failure) {
      throw ContractError(fmt::format("{} [{}], result '{}': {}", the_case.task, the_case.name, name, failure.what()));
    }
  }
  return all.result();
}

/// What the ledger counted between two readings, held against the bound. Empty: within.
std::string beyond(const CostBound& bound, const LedgerEntry& before, const LedgerEntry& after) {
  const struct {
    const char* what;
    std::uint64_t spent, least, most;
  } counts[] = {
      {"calls", after.calls - before.calls, 0, bound.max_calls},
      {"messages sent", after.messages - before.messages, bound.min_messages, bound.max_messages},
      {"bytes sent", after.bytes_sent - before.bytes_sent, 0, bound.max_bytes_sent},
      {"bytes received", after.bytes_received - before.bytes_received, bound.min_bytes_received, CostBound::kAny},
      {"rounds", after.rounds - before.rounds, bound.min_rounds, bound.max_rounds}};
  for (const auto& count : counts) {
    if (count.spent > count.most)
      return fmt::format("{} {} of {}, expected at most {}", count.spent, count.what, bound.operation, count.most);
    if (count.spent < count.least)
      return fmt::format("{} {} of {}, expected at least {}", count.spent, count.what, bound.operation, count.least);
  }
  return "";
}

}  // namespace

const at::Tensor& CaseInputs::tensor(const std::string& name) const {
  return require(tensors, name, "input tensor");
}
double CaseInputs::number(const std::string& name) const {
  return require(numbers, name, "input number");
}
std::int64_t CaseInputs::whole(const std::string& name) const {
  return static_cast<std::int64_t>(number(name));
}

CaseResult run_case(const Case& the_case, const CallTable& calls, Communicator& comm, std::uint64_t seed,
                    at::Device device) {
  CaseResult result;
  if (the_case.skip_reason) result.skipped = the_case.skip_reason(comm.size());
  if (!result.skipped.empty()) return result;
  const CasePlace place{comm.rank(), comm.size(), seed};
  const TaskCall& call = require(calls, the_case.task, "the call of task");
  const Ledger& ledger = comm.endpoint().ledger();

  result.inputs = the_case.inputs(place);
  result.inputs.device = device;
  for (auto& [name, tensor] : result.inputs.tensors) tensor = tensor.to(device);
  const std::vector<CostBound> bounds = the_case.bounds ? the_case.bounds(place) : std::vector<CostBound>();
  std::vector<LedgerEntry> before;
  for (const CostBound& bound : bounds) before.push_back(ledger.of(bound.operation));
  comm.endpoint().restart_clock();
  {
    const LedgerScope scope(comm.endpoint(), the_case.task);
    result.actual = call(comm, result.inputs);
    for (auto& [name, tensor] : result.actual) {
      if (tensor.defined()) tensor = tensor.cpu();
    }
  }
  for (std::size_t i = 0; i < bounds.size() && result.over_budget.empty(); ++i)
    result.over_budget = beyond(bounds[i], before[i], ledger.of(bounds[i].operation));
  result.expected = the_case.expected(place);
  result.comparison = compare_all(the_case, result.actual, result.expected);
  return result;
}

}  // namespace lab
