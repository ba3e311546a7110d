#include "common/checks/case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <utility>

#include "common/api/compare.h"
#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/base/failure.h"
#include "common/base/text.h"
#include "common/comm/messages/model_time.h"
#include "common/rank/perform_and_keep.h"

namespace lab {
namespace {

std::string short_id(const std::string& task) {
  return task.substr(task.find('.') + 1);
}

/// NaN has no sign.
std::string figure_text(double figure) {
  return std::isnan(figure) ? "nan" : fmt::format("{:.6g}", figure);
}

/// Where only the norm decides, elements have no tolerance: names the first that is off by half of the worst.
std::string difference_by_norm(const at::Tensor& actual, const at::Tensor& expected, const Tolerance& tolerance,
                               const Comparison& found) {
  const std::string figure =
      fmt::format("relative error {:.3g}, expected at most {:.3g}", found.relative_norm, tolerance.relative_norm);
  Tolerance half;
  half.rtol = 0;
  half.atol = found.max_diff / 2;
  const std::optional<FirstDifference> worst = first_difference(actual, expected, half);
  if (!worst) return ": " + figure;
  return fmt::format(", element {}: expected {}, got {} (max diff {}; {})", shape_text(worst->index), worst->expected,
                     worst->actual, figure_text(found.max_diff), figure);
}

/// The first difference of a result. `meaning` says of an element's index what it stands for; empty: nothing more.
std::string difference_text(const at::Tensor& actual, const at::Tensor& expected, const Tolerance& tolerance,
                            const Comparison& found, const std::function<std::string(at::IntArrayRef)>& meaning) {
  const std::optional<FirstDifference> first = first_difference(actual, expected, tolerance);
  if (!first) return difference_by_norm(actual, expected, tolerance, found);
  const std::string meant = meaning(first->index);
  return fmt::format(", element {}{}: expected {}, got {} (max diff {}; {} of {} elements differ)",
                     shape_text(first->index), meant.empty() ? "" : " (" + meant + ")", first->expected, first->actual,
                     figure_text(found.max_diff), first->num_different, expected.numel());
}

/// Operations that move nothing, so that no bound on traffic names them. What they cost is model time.
bool is_synchronisation(const std::string& operation) {
  return operation == "barrier" || operation == "agree";
}

/// What was spent on an operation; on all that moves something if the name is empty.
LedgerEntry find_entry(const std::vector<LedgerEntry>& entries, const std::string& operation) {
  LedgerEntry spent;
  spent.operation = operation;
  for (const LedgerEntry& entry : entries) {
    if (operation.empty() ? !is_synchronisation(entry.operation) : entry.operation == operation) spent += entry;
  }
  return spent;
}

/// "1, 3"; "none"
std::string list_names(const RankSet& ranks) {
  const std::vector<int> all = ranks.ranks();
  return all.empty() ? "none" : fmt::format("{}", fmt::join(all, ", "));
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
                {"rounds", spent.rounds, bound.min_rounds, bound.max_rounds},
                {"destinations", spent.destinations.size(), bound.min_destinations, bound.max_destinations}};
  const std::string of = bound.operation.empty() ? "in all" : "of " + bound.operation;
  for (const auto& count : counts) {
    if (count.spent > count.most)
      return fmt::format("{} {} {}, expected at most {}", count.spent, count.what, of, count.most);
    if (count.spent < count.least)
      return fmt::format("{} {} {}, expected at least {}", count.spent, count.what, of, count.least);
  }
  using Partners = CostBound::Partners;
  const bool both_ways = spent.destinations == spent.sources;
  if (bound.partners != Partners::kAny && both_ways != (bound.partners == Partners::kBothWays)) {
    return fmt::format("messages {} to {} and from {}, expected {}", of, list_names(spent.destinations),
                       list_names(spent.sources),
                       both_ways ? "other ranks to send to than to receive from" : "the same ranks both ways");
  }
  return "";
}

/// "does 0.98 of one process's work (7864320 floating-point operations), expected at most 0.27"; empty: no more than it
/// may.
std::string beyond_share(const std::function<ShareBound(const CasePlace&)>& bound_at, const CasePlace& place,
                         std::int64_t used, const char* line) {
  if (!bound_at) return "";
  const ShareBound bound = bound_at(place);
  if (used <= bound.most) return "";
  const auto share = [&](std::int64_t amount) {
    return static_cast<double>(amount) / static_cast<double>(std::max<std::int64_t>(bound.of_one_process, 1));
  };
  return fmt::format(fmt::runtime(line), share(used), used, share(bound.most));
}

std::string beyond_shares(const Case& test_case, const CasePlace& place, const ResourceUse& used) {
  const std::string reason =
      beyond_share(test_case.work, place, used.flops,
                   "does {:.2f} of one process's work ({} floating-point operations), expected at most {:.2f}");
  if (!reason.empty()) return reason;
  return beyond_share(test_case.memory, place, used.memory.peak_bytes,
                      "holds {:.2f} of one process's memory ({} bytes), expected at most {:.2f}");
}

/// The first bound that the case's costs on a rank violate; empty: none.
std::string beyond_bounds(const Case& test_case, const CasePlace& place, const std::vector<LedgerEntry>& spent) {
  if (!test_case.bounds) return "";
  const std::vector<CostBound> bounds = test_case.bounds(place);
  for (const CostBound& bound : bounds) {
    const std::string reason = beyond(bound, find_entry(spent, bound.operation));
    if (!reason.empty()) return reason;
  }
  for (const LedgerEntry& entry : spent) {
    const bool named =
        is_synchronisation(entry.operation) || std::any_of(bounds.begin(), bounds.end(), [&](const CostBound& bound) {
          return bound.operation.empty() || bound.operation == entry.operation;
        });
    if (named) continue;
    CostBound none;
    none.operation = entry.operation;
    none.max_calls = none.max_messages = 0;
    const std::string reason = beyond(none, entry);
    if (!reason.empty()) return reason;
  }
  return "";
}

/// A GPU's kernels add up in longer chains than the CPU's, a convolution one per output: the error of a sum of n terms in
/// a row is about sqrt(n) rounding steps, so in a chain 16 times as long it is 4 times as large. Of float32: the norms of
/// float64 have room for it.
Tolerance on_gpu(Tolerance tolerance) {
  constexpr double kLongerChains = 4, kOfFloat32 = 1e-8;
  if (tolerance.relative_norm >= kOfFloat32) tolerance.relative_norm *= kLongerChains;
  return tolerance;
}

}  // namespace

bool is_named(const Case& test_case, const std::string& name) {
  return name == test_case.name || name == test_case.task || name == short_id(test_case.task);
}

std::vector<Case> named_cases(const std::vector<Case>& cases, const std::string& name, const std::string& command) {
  std::vector<Case> named;
  std::vector<std::string> known;
  for (const Case& test_case : cases) {
    if (is_named(test_case, name)) named.push_back(test_case);
    known.push_back(test_case.name);
    known.push_back(short_id(test_case.task));
  }
  if (!named.empty()) return named;
  const std::string meant = did_you_mean(name, known);
  throw UsageError(fmt::format("{} {}: unknown case or task{}", command, name,
                               meant.empty() ? "; expected a name such as '" + known.back() + "'" : meant));
}

std::vector<Case> cases_of_task(const std::vector<Case>& cases, const std::string& task) {
  std::vector<Case> of_task;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(of_task),
               [&](const Case& test_case) { return test_case.task == task; });
  return of_task;
}

std::vector<std::string> list_tasks(const std::vector<Case>& cases) {
  std::vector<std::string> tasks;
  for (const Case& test_case : cases) {
    if (std::find(tasks.begin(), tasks.end(), test_case.task) == tasks.end()) tasks.push_back(test_case.task);
  }
  return tasks;
}

std::string find_skip_reason(const Case& test_case, int size) {
  return test_case.skip_reason ? test_case.skip_reason(size) : "";
}

std::vector<Case> with_costly(std::vector<Case> cases, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto found = std::find_if(cases.begin(), cases.end(), [&](const Case& one) { return one.name == name; });
    if (found == cases.end()) throw ContractError(fmt::format("there is no case {} to be called costly", name));
    found->costly = true;
  }
  return cases;
}

ResourceUse use_of_one_process(const Case& test_case, const CasePlace& place) {
  ResourceUse use;
  if (test_case.work && !test_case.only_rank_zero) use.flops = test_case.work(place).of_one_process;
  if (test_case.memory) use.memory.peak_bytes = test_case.memory(place).of_one_process;
  use.model_time = comm::bound_model_time(use.flops);
  return use;
}

bool is_asked(const Case& test_case, int rank) {
  return rank == 0 || !test_case.only_rank_zero;
}

int num_calls(const Case& test_case) {
  if (!test_case.once.empty()) return 1;
  return test_case.retains ? 3 : 2;
}

std::uint64_t seed_of_call(std::uint64_t seed, int call) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;  // far apart in all bits
  return seed + static_cast<std::uint64_t>(call - 1) * kGolden;
}

CaseInputs judged_inputs(const Case& test_case, CasePlace place, int call) {
  place.seed = seed_of_call(place.seed, call);
  CaseInputs inputs = test_case.inputs(place);
  if (test_case.keep_own_part) test_case.keep_own_part(place, inputs.tensors);
  inputs.task = test_case.task;
  inputs.name = test_case.name;
  inputs.call = call;
  inputs.is_last = call == num_calls(test_case);
  return inputs;
}

void compare_case(const Case& test_case, const CasePlace& place, CaseResult& found) {
  const TensorMap& expected = found.expected;
  const TensorMap& actual = found.record.results;
  CombinedComparison all;
  const auto note = [](std::string& first, const std::string& reason) {
    if (first.empty()) first = reason;
  };
  for (const auto& [name, tensor] : actual) {
    if (expected.count(name) == 0)
      note(found.malformed, fmt::format("{}: unexpected result '{}'", test_case.task, name));
  }
  for (const auto& [name, want] : expected) {
    const auto returned = actual.find(name);
    if (returned == actual.end()) {
      note(found.malformed, fmt::format("{}: the call returns no result '{}'", test_case.task, name));
      note(found.wrong, fmt::format("result '{}' is missing", name));
      continue;
    }
    const at::Tensor& got = returned->second;
    if (!got.defined()) {  // such as a gradient that never arrived
      all.add_missing(want.numel());
      note(found.wrong, fmt::format("result '{}' is undefined, expected {}", name, describe(want)));
      continue;
    }
    try {
      const Comparison one = compare(got, want, test_case.tolerance);
      all.add(one, want.numel());
      const auto meaning = [&, &result = name](at::IntArrayRef index) {
        return test_case.meaning ? test_case.meaning(place, result, index) : "";
      };
      if (!one.close && found.wrong.empty())
        found.wrong = fmt::format("result '{}'{}", name, difference_text(got, want, test_case.tolerance, one, meaning));
    } catch (const ContractError& failure) {
      note(found.malformed,
           fmt::format("{} [{}], result '{}': {}", test_case.task, test_case.name, name, failure.what()));
      note(found.wrong, fmt::format("result '{}': expected {}, got {}", name, describe(want), describe(got)));
    }
  }
  for (const auto& [name, tensor] : actual) {
    if (expected.count(name) == 0) note(found.wrong, fmt::format("result '{}' is not one of this task's", name));
  }
  found.comparison = all.result();
  found.comparison.close = found.wrong.empty();
  found.over_budget = beyond_bounds(test_case, place, found.record.spent);
  if (found.over_budget.empty()) found.over_budget = beyond_shares(test_case, place, found.record.used);
}

CaseResult run_case(const Case& of_cpu, const CallTable& calls, Communicator& comm, std::uint64_t seed,
                    at::Device device) {
  Case test_case = of_cpu;
  if (!device.is_cpu()) test_case.tolerance = on_gpu(test_case.tolerance);
  const CasePlace place{comm.rank(), comm.size(), seed};
  CaseResult result;
  CaseInputs inputs = judged_inputs(test_case, place);
  inputs.device = device;
  for (auto& [name, tensor] : inputs.tensors) tensor = tensor.to(device);
  CallSeries series;
  perform_and_keep(inputs, calls, comm, series, [&](CaseRecord record) { result.record = std::move(record); });
  ResourceUse& used = result.record.used;
  if (result.record.end == CaseEnd::kNotImplemented) not_implemented(result.record.missing_task);
  if (!device.is_cpu()) used.memory = {};  // the CPU's: messages on their way
  result.expected = test_case.expected(place);
  compare_case(test_case, place, result);
  if (!result.malformed.empty()) throw ContractError(result.malformed);
  result.inputs = test_case.keep_own_part ? test_case.inputs(place) : std::move(inputs);
  return result;
}

}  // namespace lab
