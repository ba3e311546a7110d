// One rank of a world that a launcher started: all-reduces a tensor, by a ring and as chosen, and prints what this rank
// has sent by its ledger and, in the same time, over its network interface eth0:
//     ring: 100663296 by the ledger, 101234567 on the wire, 1234 packets

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "a9_collectives/allreduce.h"
#include "common/comm/messages/get_endpoint.h"
#include "common/launch/joined_world.h"

using namespace lab;

namespace {

constexpr std::int64_t kElements = 16 << 20;  // 64 MiB in float32

std::uint64_t sent(const char* unit) {
  std::uint64_t number = 0;
  std::ifstream(fmt::format("/sys/class/net/eth0/statistics/tx_{}", unit)) >> number;
  return number;
}

template <typename AllReduce>
void count(const char* name, Communicator& comm, const AllReduce& all_reduce) {
  at::Tensor tensor = at::ones({kElements});
  comm.collectives().barrier();
  const std::uint64_t by_ledger = get_endpoint(comm).ledger().total().bytes_sent;
  const std::uint64_t bytes = sent("bytes"), packets = sent("packets");
  tensor = all_reduce(tensor, comm.point_to_point());
  comm.collectives().barrier();  // until then some of it may still be in a socket's buffer
  fmt::print("{}: {} by the ledger, {} on the wire, {} packets\n", name,
             get_endpoint(comm).ledger().total().bytes_sent - by_ledger, sent("bytes") - bytes,
             sent("packets") - packets);
  if (tensor.ne(comm.size()).any().item<bool>()) throw std::runtime_error("a wrong sum");
}

}  // namespace

int main() {
  const auto environment = launch::rank_environment(launch::process_variable);
  if (!environment) return 2;
  const launch::WorldOutcome outcome =
      launch::join_world(*environment, {}, [](Communicator& comm, launch::RankOutcome&) {
        count("ring", comm, [](const at::Tensor& x, PointToPoint& p2p) { return a9::allreduce_ring(x, p2p); });
        count("as chosen", comm, [](const at::Tensor& x, PointToPoint& p2p) { return a9::my_allreduce(x, p2p); });
      });
  if (outcome.failure) fmt::print(stderr, "{}\n", outcome.failure->message);
  return outcome.exit_code();
}
