#include <fmt/format.h>

#include <algorithm>

#include "a9_collectives/all_to_all.h"
#include "a9_collectives/allgather.h"
#include "a9_collectives/allreduce.h"
#include "a9_collectives/broadcast.h"
#include "a9_collectives/chunks.h"
#include "a9_collectives/reduce_scatter.h"
#include "a9_collectives/tests/algorithm_verdict.h"
#include "common/testing/test.h"

// An algorithm is what it is called: each is refused in the place of every other one, however right its result, and
// accepted as libraries and textbooks write it.
namespace lab::a9 {
namespace {

struct NamedAlgorithm {
  const char* case_name;  ///< of the task that asks for it; null: none asks for just this one
  const char* name;
  Run run;
};

Run on_tensor(at::Tensor (*function)(at::Tensor, PointToPoint&)) {
  return [function](const at::Tensor& x, const CaseInputs&, PointToPoint& p2p) { return function(x, p2p); };
}
Run from_rank(at::Tensor (*function)(at::Tensor, int, PointToPoint&)) {
  return [function](const at::Tensor& x, const CaseInputs& inputs, PointToPoint& p2p) {
    return function(x, static_cast<int>(inputs.integer("src_rank")), p2p);
  };
}
Run along_dims(at::Tensor (*function)(at::Tensor, std::int64_t, std::int64_t, PointToPoint&)) {
  return [function](const at::Tensor& x, const CaseInputs& inputs, PointToPoint& p2p) {
    return function(x, inputs.integer("scatter_dim"), inputs.integer("gather_dim"), p2p);
  };
}

std::vector<std::vector<NamedAlgorithm>> all_collectives() {
  return {{{nullptr, "flat", from_rank(broadcast_flat)},
           {"BroadcastBinomial", "binomial", from_rank(broadcast_binomial)},
           {"BroadcastChain", "chain", from_rank(broadcast_chain)}},
          {{nullptr, "gather and broadcast", on_tensor(allreduce_gather_broadcast)},
           {"AllReduceRecursiveDoubling", "recursive doubling", on_tensor(allreduce_recursive_doubling)},
           {"AllReduceRing", "ring", on_tensor(allreduce_ring)},
           {"AllReduceRingSegmented", "segmented ring", on_tensor(allreduce_ring_segmented)},
           {"AllReduceRabenseifner", "Rabenseifner", on_tensor(allreduce_rabenseifner)},
           {"AllReduceDirect", "direct", on_tensor(allreduce_direct)}},
          {{nullptr, "through the root", on_tensor(allgather_through_root)},
           {"AllGatherRing", "ring", on_tensor(allgather_ring)},
           {"AllGatherRecursiveDoubling", "recursive doubling", on_tensor(allgather_recursive_doubling)},
           {"AllGatherBruck", "Bruck", on_tensor(allgather_bruck)},
           {"AllGatherDirect", "direct", on_tensor(allgather_direct)}},
          {{nullptr, "pairwise", on_tensor(reduce_scatter_pairwise)},
           {"ReduceScatterRing", "ring", on_tensor(reduce_scatter_ring)},
           {"ReduceScatterRecursiveHalving", "recursive halving", on_tensor(reduce_scatter_recursive_halving)}},
          {{nullptr, "direct", along_dims(all_to_all_direct)},
           {"AllToAllPairwise", "pairwise", along_dims(all_to_all_pairwise)},
           {"AllToAllBruck", "Bruck", along_dims(all_to_all_bruck)}}};
}

std::string said(const char* case_name, const char* algorithm, int size, const std::string& verdict) {
  return fmt::format("{} by {} on {} ranks: {}", case_name, algorithm, size, verdict);
}

TEST_CASE("no algorithm passes under another's name on 4, 6 and 8 ranks") {
  for (const std::vector<NamedAlgorithm>& collective : all_collectives()) {
    for (const NamedAlgorithm& asked : collective) {
      if (asked.case_name == nullptr) continue;
      for (const NamedAlgorithm& given : collective) {
        for (const int size : {4, 6, 8}) {
          const std::string verdict = algorithm_verdict(asked.case_name, given.run, size);
          INFO(said(asked.case_name, given.name, size, verdict));
          const bool is_a_ring = std::string(asked.name) == "ring" && std::string(given.name) == "segmented ring";
          CHECK((verdict == "passed") == (asked.name == given.name || is_a_ring));
          CHECK(verdict != "mismatch");
        }
      }
    }
  }
}

/// Ranks around the circle, from r.
int shifted(const PointToPoint& p2p, int by) {
  return (p2p.rank() + by % p2p.size() + p2p.size()) % p2p.size();
}

/// Two messages in place of one, both at once.
void exchange_halves(PointToPoint& p2p, const at::Tensor& out, const at::Tensor& in, int partner) {
  std::vector<Request> requests;
  const std::int64_t half = out.numel() / 2, rest = out.numel() - half;
  for (const auto& [begin, length] : {std::pair<std::int64_t, std::int64_t>{0, half}, {half, rest}}) {
    requests.push_back(p2p.irecv(in.narrow(0, begin, length), partner));
    requests.push_back(p2p.isend(out.narrow(0, begin, length), partner));
  }
  for (Request& request : requests) request.wait();
}

at::Tensor bruck_the_other_way(at::Tensor tensor, PointToPoint& p2p) {
  std::vector<at::Tensor> held = {tensor.clone()};  // held[i] is the part of rank r - i
  for (int distance = 1; distance < p2p.size(); distance *= 2) {
    const auto count = static_cast<std::size_t>(std::min(distance, p2p.size() - distance));
    const at::Tensor out = at::cat(std::vector<at::Tensor>(held.begin(), held.begin() + static_cast<long>(count)));
    const at::Tensor in = at::empty_like(out);
    sendrecv(p2p, out, shifted(p2p, distance), in, shifted(p2p, -distance));
    for (const at::Tensor& part : in.chunk(static_cast<std::int64_t>(count))) held.push_back(part);
  }
  std::vector<at::Tensor> parts(held.size());
  for (std::size_t i = 0; i < held.size(); ++i)
    parts[static_cast<std::size_t>(shifted(p2p, -static_cast<int>(i)))] = held[i];
  return at::cat(parts);
}

/// The last ranks hand their data to the first, in two messages as all do; the others double.
at::Tensor doubling_with_the_last_aside(at::Tensor tensor, PointToPoint& p2p) {
  const int power = floor_power_of_two(p2p.size()), rank = p2p.rank();
  const at::Tensor received = at::empty_like(tensor);
  if (rank >= power) {
    p2p.send(tensor, rank - power);
    p2p.recv(tensor, rank - power);
    return tensor;
  }
  const bool has_guest = rank + power < p2p.size();
  if (has_guest) {
    p2p.recv(received, rank + power);
    tensor.add_(received);
  }
  for (int distance = power / 2; distance > 0; distance /= 2) {
    exchange_halves(p2p, tensor.clone(), received, rank ^ distance);
    tensor.add_(received);
  }
  if (has_guest) p2p.send(tensor, rank + power);
  return tensor;
}

/// One half of each part goes to the right, the other one to the left.
at::Tensor ring_both_ways(at::Tensor tensor, PointToPoint& p2p) {
  const std::int64_t half = tensor.numel() / 2, rest = tensor.numel() - half;
  std::vector<at::Tensor> parts(static_cast<std::size_t>(p2p.size()), tensor.clone());
  for (at::Tensor& part : parts) part = part.clone();
  const auto part_at = [&](int by) { return parts[static_cast<std::size_t>(shifted(p2p, by))]; };
  for (int step = 1; step < p2p.size(); ++step) {
    std::vector<Request> requests;
    requests.push_back(p2p.irecv(part_at(-step).narrow(0, 0, half), shifted(p2p, -1), 1));
    requests.push_back(p2p.irecv(part_at(step).narrow(0, half, rest), shifted(p2p, 1), 2));
    requests.push_back(p2p.isend(part_at(1 - step).narrow(0, 0, half), shifted(p2p, 1), 1));
    requests.push_back(p2p.isend(part_at(step - 1).narrow(0, half, rest), shifted(p2p, -1), 2));
    for (Request& request : requests) request.wait();
  }
  return at::cat(parts);
}

/// The tree whose children are at lower ranks.
at::Tensor binomial_downwards(at::Tensor tensor, int src_rank, PointToPoint& p2p) {
  const int size = p2p.size(), virtual_rank = (src_rank - p2p.rank() + size) % size;
  const auto real = [&](int v) { return (src_rank - v + size) % size; };
  int bit = 1;
  while (bit < size && (virtual_rank & bit) == 0) bit *= 2;
  if (virtual_rank != 0) p2p.recv(tensor, real(virtual_rank - bit));
  for (bit /= 2; bit > 0; bit /= 2) {
    if (virtual_rank + bit < size) p2p.send(tensor, real(virtual_rank + bit));
  }
  return tensor;
}

/// To lower ranks, in eight segments.
at::Tensor chain_downwards(at::Tensor tensor, int src_rank, PointToPoint& p2p) {
  const int size = p2p.size(), place = (src_rank - p2p.rank() + size) % size;
  std::vector<Request> sent;
  for (const at::Tensor& segment : tensor.chunk(8)) {
    if (place > 0) p2p.recv(segment, shifted(p2p, 1));
    if (place < size - 1) sent.push_back(p2p.isend(segment, shifted(p2p, -1)));
  }
  for (Request& request : sent) request.wait();
  return tensor;
}

TEST_CASE("variants of libraries and textbooks pass under their algorithm's name") {
  const NamedAlgorithm variants[] = {
      {"AllGatherBruck", "to higher ranks", on_tensor(bruck_the_other_way)},
      {"AllReduceRecursiveDoubling", "last ranks aside, largest distance first, in halves",
       on_tensor(doubling_with_the_last_aside)},
      {"AllGatherRing", "both ways round", on_tensor(ring_both_ways)},
      {"BroadcastBinomial", "to lower ranks", from_rank(binomial_downwards)},
      {"BroadcastChain", "to lower ranks, in eight segments", from_rank(chain_downwards)},
  };
  for (const NamedAlgorithm& variant : variants) {
    for (const int size : {1, 2, 3, 4, 5, 6, 7, 8}) {
      const std::string verdict = algorithm_verdict(variant.case_name, variant.run, size);
      INFO(said(variant.case_name, variant.name, size, verdict));
      CHECK(verdict == "passed");
    }
  }
}

}  // namespace
}  // namespace lab::a9
