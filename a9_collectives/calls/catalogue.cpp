#include "a9_collectives/calls/catalogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bitset>

#include "a9_collectives/all_to_all.h"
#include "a9_collectives/allgather.h"
#include "a9_collectives/allreduce.h"
#include "a9_collectives/broadcast.h"
#include "a9_collectives/calls/calls.h"
#include "a9_collectives/chunks.h"
#include "a9_collectives/reduce_scatter.h"
#include "common/api/errors.h"
#include "common/base/text.h"

namespace lab::a9 {
namespace {

/// (P - 1) / P: the part of the data that a rank lacks at first, if all have equal parts.
double share_of_others(int num_ranks) {
  return (num_ranks - 1.0) / num_ranks;
}

/// `steps` messages in turn, of equal size.
Cost list_steps(double steps, double bytes_per_step) {
  return {steps, steps * bytes_per_step};
}

/// Recursive doubling all-gather, which is recursive halving reduce-scatter run backwards.
Cost doubling(double num_bytes, int num_ranks) {
  const int power = floor_power_of_two(num_ranks);
  const int aside = num_ranks - power;
  if (aside == 0) return {static_cast<double>(floor_lg(num_ranks)), share_of_others(num_ranks) * num_bytes};
  double parts = 1 + num_ranks;  // the part handed over before, and the whole given back after
  for (int held = 1; held < power; held *= 2) parts += held + std::min(aside, held);
  return {2.0 + floor_lg(num_ranks), parts / num_ranks * num_bytes};
}

Cost cost_broadcast_flat(double num_bytes, int num_ranks) {
  return list_steps(num_ranks - 1, num_bytes);
}
Cost cost_broadcast_binomial(double num_bytes, int num_ranks) {
  return list_steps(ceil_lg(num_ranks), num_bytes);
}
Cost cost_broadcast_chain(double num_bytes, int num_ranks) {
  if (num_ranks == 1) return {};
  const auto segments = static_cast<double>(broadcast_chain_segments(static_cast<std::int64_t>(num_bytes)));
  return list_steps(num_ranks - 2 + segments, num_bytes / segments);
}

Cost cost_allreduce_gather_broadcast(double num_bytes, int num_ranks) {
  return list_steps(2 * (num_ranks - 1), num_bytes);
}
Cost cost_allreduce_recursive_doubling(double num_bytes, int num_ranks) {
  return list_steps(floor_lg(num_ranks) + (num_ranks == floor_power_of_two(num_ranks) ? 0 : 2), num_bytes);
}
Cost cost_allreduce_ring(double num_bytes, int num_ranks) {
  return list_steps(2 * (num_ranks - 1), num_bytes / num_ranks);
}
Cost cost_allreduce_ring_segmented(double num_bytes, int num_ranks) {
  const auto segments = allreduce_ring_segments(static_cast<std::int64_t>(num_bytes), num_ranks);
  const double steps = (num_ranks - 1) * (static_cast<double>(segments) + 1);
  return {steps, 2 * share_of_others(num_ranks) * num_bytes};
}
Cost cost_allreduce_rabenseifner(double num_bytes, int num_ranks) {
  const int power = floor_power_of_two(num_ranks);
  const Cost inner = {2.0 * floor_lg(num_ranks), 2 * share_of_others(power) * num_bytes};
  if (power == num_ranks) return inner;
  return {inner.steps + 2, inner.path_bytes + 2 * num_bytes};
}
Cost cost_allreduce_direct(double num_bytes, int num_ranks) {
  return num_ranks == 1 ? Cost{} : Cost{2, 2 * share_of_others(num_ranks) * num_bytes};
}

Cost cost_allgather_through_root(double num_bytes, int num_ranks) {
  return {2.0 * (num_ranks - 1), (num_ranks - 1) * (1 + 1.0 / num_ranks) * num_bytes};
}
Cost cost_allgather_ring(double num_bytes, int num_ranks) {
  return list_steps(num_ranks - 1, num_bytes / num_ranks);
}
Cost cost_allgather_recursive_doubling(double num_bytes, int num_ranks) {
  return doubling(num_bytes, num_ranks);
}
Cost cost_allgather_bruck(double num_bytes, int num_ranks) {
  return {static_cast<double>(ceil_lg(num_ranks)), share_of_others(num_ranks) * num_bytes};
}
Cost cost_allgather_direct(double num_bytes, int num_ranks) {
  return num_ranks == 1 ? Cost{} : Cost{1, share_of_others(num_ranks) * num_bytes};
}

Cost cost_reduce_scatter_pairwise(double num_bytes, int num_ranks) {
  return list_steps(num_ranks - 1, num_bytes / num_ranks);
}
Cost cost_reduce_scatter_ring(double num_bytes, int num_ranks) {
  return list_steps(num_ranks - 1, num_bytes / num_ranks);
}
Cost cost_reduce_scatter_recursive_halving(double num_bytes, int num_ranks) {
  return doubling(num_bytes, num_ranks);
}

Cost cost_all_to_all_direct(double num_bytes, int num_ranks) {
  return num_ranks == 1 ? Cost{} : Cost{1, share_of_others(num_ranks) * num_bytes};
}
Cost cost_all_to_all_pairwise(double num_bytes, int num_ranks) {
  return list_steps(num_ranks - 1, num_bytes / num_ranks);
}
Cost cost_all_to_all_bruck(double num_bytes, int num_ranks) {
  double chunks = 0;  // each travels as many times as its distance has binary digits that are set
  for (unsigned distance = 1; distance < static_cast<unsigned>(num_ranks); ++distance)
    chunks += static_cast<double>(std::bitset<32>(distance).count());
  return {static_cast<double>(ceil_lg(num_ranks)), chunks * num_bytes / num_ranks};
}

using OnTensor = at::Tensor (*)(at::Tensor, PointToPoint&);
using FromRank = at::Tensor (*)(at::Tensor, int, PointToPoint&);
using AlongDims = at::Tensor (*)(at::Tensor, std::int64_t, std::int64_t, PointToPoint&);

/// A student function, called in both ways.
struct Function {
  TaskCall call;
  std::function<at::Tensor(const at::Tensor& input, PointToPoint&)> run;
};

Function on_tensor(OnTensor function, Place place) {
  const auto call = [=](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor x = case_tensor(inputs);
    return collect_results(x, function(x, comm.point_to_point()), place);
  };
  return {call, function};
}
Function in_place(OnTensor function) {
  return on_tensor(function, Place::kInPlace);
}
Function made_new(OnTensor function) {
  return on_tensor(function, Place::kNew);
}
Function from_rank(FromRank function) {
  const auto call = [=](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor x = case_tensor(inputs);
    const auto src_rank = static_cast<int>(inputs.integer("src_rank"));
    return collect_results(x, function(x, src_rank, comm.point_to_point()), Place::kInPlace);
  };
  return {call, [=](const at::Tensor& input, PointToPoint& p2p) { return function(input, 0, p2p); }};
}
Function along_dims(AlongDims function) {
  const auto call = [=](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor x = case_tensor(inputs);
    const at::Tensor out =
        function(x, inputs.integer("scatter_dim"), inputs.integer("gather_dim"), comm.point_to_point());
    return collect_results(x, out, Place::kNewContiguous);
  };
  return {call, [=](const at::Tensor& input, PointToPoint& p2p) { return function(input, 0, 0, p2p); }};
}

Algorithm algorithm(const char* name, const Function& function, Cost (*cost)(double, int),
                    bool through_one_rank = false) {
  return {name, function.run, cost, through_one_rank, function.call};
}

std::int64_t whole(std::int64_t num_elements, int) {
  return num_elements;
}
std::int64_t one_part(std::int64_t num_elements, int num_ranks) {
  return num_elements / num_ranks;
}

std::vector<Collective> make_catalogue() {
  return {
      {"broadcast",
       from_rank(my_broadcast).call,
       {algorithm("flat", from_rank(broadcast_flat), cost_broadcast_flat, true),
        algorithm("binomial", from_rank(broadcast_binomial), cost_broadcast_binomial),
        algorithm("chain", from_rank(broadcast_chain), cost_broadcast_chain)},
       from_rank(my_broadcast).run,
       choose_broadcast,
       whole,
       [](int) { return 1.0; }},
      {"allreduce",
       in_place(my_allreduce).call,
       {algorithm("gather_broadcast", in_place(allreduce_gather_broadcast), cost_allreduce_gather_broadcast, true),
        algorithm("recursive_doubling", in_place(allreduce_recursive_doubling), cost_allreduce_recursive_doubling),
        algorithm("ring", in_place(allreduce_ring), cost_allreduce_ring),
        algorithm("ring_segmented", in_place(allreduce_ring_segmented), cost_allreduce_ring_segmented),
        algorithm("rabenseifner", in_place(allreduce_rabenseifner), cost_allreduce_rabenseifner),
        algorithm("direct", in_place(allreduce_direct), cost_allreduce_direct)},
       in_place(my_allreduce).run,
       choose_allreduce,
       whole,
       [](int num_ranks) { return 2 * share_of_others(num_ranks); }},
      {"allgather",
       made_new(my_allgather).call,
       {algorithm("through_root", made_new(allgather_through_root), cost_allgather_through_root, true),
        algorithm("ring", made_new(allgather_ring), cost_allgather_ring),
        algorithm("recursive_doubling", made_new(allgather_recursive_doubling), cost_allgather_recursive_doubling),
        algorithm("bruck", made_new(allgather_bruck), cost_allgather_bruck),
        algorithm("direct", made_new(allgather_direct), cost_allgather_direct)},
       made_new(my_allgather).run,
       choose_allgather,
       one_part,
       share_of_others},
      {"reduce_scatter",
       made_new(my_reduce_scatter).call,
       {algorithm("pairwise", made_new(reduce_scatter_pairwise), cost_reduce_scatter_pairwise),
        algorithm("ring", made_new(reduce_scatter_ring), cost_reduce_scatter_ring),
        algorithm("recursive_halving", made_new(reduce_scatter_recursive_halving),
                  cost_reduce_scatter_recursive_halving)},
       made_new(my_reduce_scatter).run,
       choose_reduce_scatter,
       whole,
       share_of_others},
      {"all_to_all",
       along_dims(my_all_to_all).call,
       {algorithm("direct", along_dims(all_to_all_direct), cost_all_to_all_direct),
        algorithm("pairwise", along_dims(all_to_all_pairwise), cost_all_to_all_pairwise),
        algorithm("bruck", along_dims(all_to_all_bruck), cost_all_to_all_bruck)},
       along_dims(my_all_to_all).run,
       choose_all_to_all,
       whole,
       share_of_others},
  };
}

template <typename Named>
const Named& find_named(const std::vector<Named>& list, std::string_view name, const std::string& what) {
  std::vector<std::string> known;
  for (const Named& one : list) {
    if (one.name == name) return one;
    known.push_back(one.name);
  }
  const std::string meant = did_you_mean(name, known);
  throw UsageError(fmt::format("unknown {} '{}'{}", what, name,
                               meant.empty() ? fmt::format("; expected one of {}", fmt::join(known, ", ")) : meant));
}

}  // namespace

const std::vector<Collective>& catalogue() {
  static const std::vector<Collective> all = make_catalogue();
  return all;
}

const Collective& collective_named(std::string_view name) {
  return find_named(catalogue(), name, "collective");
}

const Algorithm& algorithm_named(const Collective& collective, std::string_view name) {
  return find_named(collective.algorithms, name, collective.name + " algorithm");
}

}  // namespace lab::a9
