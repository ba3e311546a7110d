#include "optC_model_parallel/cases/tensor_bounds.h"

#include "common/comm/messages/ledger.h"

namespace lab::optc {
namespace {

enum class Least { kAsMuch, kAnything };

CostBound bound_of(const std::string& operation, const std::vector<std::int64_t>& num_values, int size, Least least) {
  comm::Ledger ledger;
  for (const std::int64_t count : num_values)
    ledger.add(comm::nominal_cost(operation, size, count * static_cast<std::int64_t>(sizeof(double))));
  const LedgerEntry all = ledger.of(operation);
  CostBound bound;
  bound.operation = operation;
  bound.max_calls = all.calls;
  bound.max_bytes_sent = all.bytes_sent;
  if (least == Least::kAsMuch) {
    bound.min_rounds = all.rounds;
    bound.min_bytes_received = all.bytes_received;
  }
  return bound;
}

std::vector<CostBound> tensor_bounds(const std::string& task, const Traffic& traffic, int size, Least least) {
  return {bound_of("all_reduce", traffic.all_reduces, size, least),
          bound_of("all_gather", traffic.all_gathers, size, least),
          {"broadcast", 0},
          {"reduce_scatter", 0},
          {"all_to_all", 0},
          {"barrier", 0},
          {task, 0}};
}

}  // namespace

Traffic operator+(Traffic first, const Traffic& second) {
  first.all_reduces.insert(first.all_reduces.end(), second.all_reduces.begin(), second.all_reduces.end());
  first.all_gathers.insert(first.all_gathers.end(), second.all_gathers.begin(), second.all_gathers.end());
  return first;
}

std::vector<CostBound> exactly(const std::string& task, const Traffic& traffic, int size) {
  return tensor_bounds(task, traffic, size, Least::kAsMuch);
}

std::vector<CostBound> at_most(const std::string& task, const Traffic& traffic, int size) {
  return tensor_bounds(task, traffic, size, Least::kAnything);
}

}  // namespace lab::optc
