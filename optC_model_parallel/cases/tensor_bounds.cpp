#include "optC_model_parallel/cases/tensor_bounds.h"

#include <algorithm>
#include <numeric>

#include "common/comm/messages/ledger.h"

namespace lab::optc {
namespace {

using Counts = std::vector<std::int64_t>;

std::int64_t view_bytes(std::int64_t num_values, at::ScalarType dtype) {
  return num_values * static_cast<std::int64_t>(c10::elementSize(dtype));
}

LedgerEntry compute_cost(const std::string& operation, const Counts& num_values, int size, at::ScalarType dtype) {
  comm::Ledger ledger;
  for (const std::int64_t count : num_values) ledger.add(comm::nominal_cost(operation, size, view_bytes(count, dtype)));
  return ledger.of(operation);
}

/// So many calls at most, and no more bytes sent.
CostBound make_bound(const std::string& operation, std::size_t max_calls, std::uint64_t max_bytes_sent) {
  CostBound bound;
  bound.operation = operation;
  bound.max_calls = max_calls;
  bound.max_bytes_sent = max_bytes_sent;
  return bound;
}

/// Rounded up, so that the ranks have equal parts of each.
Counts padded(Counts counts, int size) {
  for (std::int64_t& count : counts) count = (count + size - 1) / size * size;
  return counts;
}

/// What arrives on a rank if each value of the largest sum does, once.
std::uint64_t least_received(const Traffic& traffic, int size, at::ScalarType dtype) {
  if (size == 1 || traffic.all_reduces.empty()) return 0;
  return static_cast<std::uint64_t>(
      view_bytes(*std::max_element(traffic.all_reduces.begin(), traffic.all_reduces.end()), dtype));
}

}  // namespace

Traffic operator+(Traffic first, const Traffic& second) {
  first.all_reduces.insert(first.all_reduces.end(), second.all_reduces.begin(), second.all_reduces.end());
  first.all_gathers.insert(first.all_gathers.end(), second.all_gathers.begin(), second.all_gathers.end());
  return first;
}

std::vector<CostBound> tensor_bounds(const std::string& task, const Traffic& traffic, int size, at::ScalarType dtype,
                                     bool exactly) {
  const Counts sums = padded(traffic.all_reduces, size);
  const at::ScalarType sum_dtype = dtype == at::kBFloat16 ? at::kFloat : dtype;
  const std::uint64_t gathered = compute_cost("all_gather", traffic.all_gathers, size, dtype).bytes_sent,
                      half = compute_cost("reduce_scatter", sums, size, sum_dtype).bytes_sent;
  const std::size_t num_gathers = traffic.all_gathers.size();
  CostBound all = make_bound("", CostBound::kAny, gathered + 2 * half);
  all.min_bytes_received = exactly ? compute_cost("all_reduce", traffic.all_reduces, size, dtype).bytes_received +
                                         compute_cost("all_gather", traffic.all_gathers, size, dtype).bytes_received
                                   : least_received(traffic, size, dtype);
  return {make_bound("all_reduce", sums.size(), 2 * half),
          make_bound("all_gather", num_gathers + sums.size(), gathered + half),
          make_bound("reduce_scatter", sums.size(), half),
          {"broadcast", 0},
          {"all_to_all", 0},
          {task, 0},
          all};
}

std::vector<CostBound> messages_and_sums(const std::vector<std::int64_t>& num_values, int size) {
  const LedgerEntry sums = compute_cost("all_reduce", num_values, size, at::kDouble);
  CostBound all_reduces = make_bound("all_reduce", sums.calls, sums.bytes_sent);
  all_reduces.min_bytes_received = sums.bytes_received;
  return {all_reduces, {"all_gather", 0}, {"broadcast", 0}, {"reduce_scatter", 0}, {"all_to_all", 0}, {"message", 0}};
}

std::vector<CostBound> generously(const std::string& task, const Traffic& traffic, std::int64_t num_hidden, int size,
                                  at::ScalarType dtype) {
  Counts sums = traffic.all_reduces;
  sums.push_back(num_hidden);
  const std::int64_t num_terms = std::accumulate(sums.begin(), sums.end() - 1, std::int64_t{0}) * size;
  CostBound all;  // stands for every operation that is not forbidden
  all.max_bytes_sent = 2 * (compute_cost("all_reduce", sums, size, dtype).bytes_sent +
                            compute_cost("all_gather", {num_terms}, size, dtype).bytes_sent);
  all.min_bytes_received = least_received(traffic, size, dtype);
  return {{"broadcast", 0}, {"all_to_all", 0}, {task, 0}, all};
}

}  // namespace lab::optc
