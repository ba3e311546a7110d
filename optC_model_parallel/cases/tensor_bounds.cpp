#include "optC_model_parallel/cases/tensor_bounds.h"

#include <algorithm>
#include <numeric>

#include "common/comm/messages/ledger.h"

namespace lab::optc {
namespace {

using Counts = std::vector<std::int64_t>;

enum class Least { kAsMuch, kAnything };

std::int64_t bytes_of(std::int64_t num_values, at::ScalarType dtype) {
  return num_values * static_cast<std::int64_t>(c10::elementSize(dtype));
}

LedgerEntry cost_of(const std::string& operation, const Counts& num_values, int size, at::ScalarType dtype) {
  comm::Ledger ledger;
  for (const std::int64_t count : num_values) ledger.add(comm::nominal_cost(operation, size, bytes_of(count, dtype)));
  return ledger.of(operation);
}

CostBound bound_of(const std::string& operation, const LedgerEntry& all, Least least) {
  CostBound bound;
  bound.operation = operation;
  bound.max_calls = all.calls;
  // Each call's cost is rounded down, and one call may stand for several.
  bound.max_bytes_sent = all.bytes_sent + (all.calls > 1 ? all.calls - 1 : 0);
  if (least == Least::kAsMuch) {
    bound.min_rounds = all.rounds;
    bound.min_bytes_received = all.bytes_received;
  }
  return bound;
}

std::vector<CostBound> tensor_bounds(const std::string& task, const Traffic& traffic, int size, at::ScalarType dtype,
                                     Least least) {
  return {bound_of("all_reduce", cost_of("all_reduce", traffic.all_reduces, size, dtype), least),
          bound_of("all_gather", cost_of("all_gather", traffic.all_gathers, size, dtype), least),
          {"broadcast", 0},
          {"reduce_scatter", 0},
          {"all_to_all", 0},
          {task, 0}};
}

/// What arrives on a rank if each value of the largest sum does, once.
std::uint64_t least_received(const Traffic& traffic, int size, at::ScalarType dtype) {
  if (size == 1 || traffic.all_reduces.empty()) return 0;
  return static_cast<std::uint64_t>(
      bytes_of(*std::max_element(traffic.all_reduces.begin(), traffic.all_reduces.end()), dtype));
}

}  // namespace

Traffic operator+(Traffic first, const Traffic& second) {
  first.all_reduces.insert(first.all_reduces.end(), second.all_reduces.begin(), second.all_reduces.end());
  first.all_gathers.insert(first.all_gathers.end(), second.all_gathers.begin(), second.all_gathers.end());
  return first;
}

std::vector<CostBound> exactly(const std::string& task, const Traffic& traffic, int size, at::ScalarType dtype) {
  return tensor_bounds(task, traffic, size, dtype, Least::kAsMuch);
}

std::vector<CostBound> at_most(const std::string& task, const Traffic& traffic, int size, at::ScalarType dtype) {
  std::vector<CostBound> bounds = tensor_bounds(task, traffic, size, dtype, Least::kAnything);
  CostBound sums;  // after what must not be there, which says more
  sums.operation = "all_reduce";
  sums.min_bytes_received = least_received(traffic, size, dtype);
  bounds.push_back(sums);
  return bounds;
}

std::vector<CostBound> generously(const std::string& task, const Traffic& traffic, std::int64_t num_hidden, int size,
                                  at::ScalarType dtype) {
  Counts sums = traffic.all_reduces;
  sums.push_back(num_hidden);
  const std::int64_t num_terms = std::accumulate(sums.begin(), sums.end() - 1, std::int64_t{0}) * size;
  CostBound all;  // stands for every operation that is not forbidden
  all.max_bytes_sent = 2 * (cost_of("all_reduce", sums, size, dtype).bytes_sent +
                            cost_of("all_gather", {num_terms}, size, dtype).bytes_sent);
  all.min_bytes_received = least_received(traffic, size, dtype);
  return {{"broadcast", 0}, {"all_to_all", 0}, {task, 0}, all};
}

}  // namespace lab::optc
