#include "common/bench/collective_data.h"

#include "common/tensor/exact_data.h"

namespace lab {

at::Tensor collective_input(std::int64_t num_elements, int rank) {
  constexpr std::uint64_t kSeed = 11;
  return exact_values_for_rank({num_elements}, at::kFloat, kSeed, rank);
}

at::Tensor expected_result(const std::string& collective, std::int64_t input_elements, int rank, int size) {
  const auto input = [&](int of_rank) { return collective_input(input_elements, of_rank); };
  if (collective == "broadcast") return input(0);
  if (collective == "allreduce" || collective == "reduce_scatter") {
    at::Tensor sum = input(0);
    for (int other = 1; other < size; ++other) sum.add_(input(other));
    return collective == "allreduce" ? sum : sum.chunk(size, 0)[static_cast<std::size_t>(rank)];
  }
  std::vector<at::Tensor> parts;
  for (int other = 0; other < size; ++other) {
    const at::Tensor theirs = input(other);
    parts.push_back(collective == "allgather" ? theirs : theirs.chunk(size, 0)[static_cast<std::size_t>(rank)]);
  }
  return at::cat(parts, 0);
}

at::Tensor of_all_ranks(Communicator& comm, const std::vector<double>& values) {
  return at::stack(comm.collectives().all_gather(at::tensor(values, at::kDouble)));
}

void line_up(PointToPoint& p2p) {
  const at::Tensor own = at::empty({0}), theirs = at::empty({0});  // that a message comes is all that counts
  for (int distance = 1; distance < p2p.size(); distance *= 2) {
    Request sent = p2p.isend(own, (p2p.rank() + distance) % p2p.size());
    p2p.recv(theirs, (p2p.rank() - distance + p2p.size()) % p2p.size());
    sent.wait();
  }
}

}  // namespace lab
