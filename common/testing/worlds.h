#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "common/launch/run_ranks.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"

// The worlds that tests run in, the sizes that the contract suite runs at, and what became of each rank.
namespace lab {

using testing::contains;

inline launch::WorldSpec choose_world(launch::WorldKind kind, int num_ranks, double timeout_seconds = 60) {
  launch::WorldSpec spec;
  spec.kind = kind;
  spec.num_ranks = num_ranks;
  spec.timeout_seconds = timeout_seconds;
  return spec;
}

inline launch::WorldSpec threads(int num_ranks) {
  return choose_world(launch::WorldKind::kThreads, num_ranks);
}

/// What a world's specification has besides its kind.
struct AnyWorld {
  static void complete(launch::WorldSpec&) {}
};
struct Threads : AnyWorld {
  static constexpr launch::WorldKind kKind = launch::WorldKind::kThreads;
};
struct Processes : AnyWorld {
  static constexpr launch::WorldKind kKind = launch::WorldKind::kProcesses;
};
struct SharedMemory : Processes {
  static void complete(launch::WorldSpec& spec) { spec.transport = comm::TransportKind::kShm; }
};
/// Each two ranks share memory; the others use Gloo, as on several hosts.
struct TwoPerHost : Processes {
  static void complete(launch::WorldSpec& spec) {
    spec.transport = comm::TransportKind::kAuto;
    spec.ranks_per_host = 2;
  }
};
struct Sim : AnyWorld {
  static constexpr launch::WorldKind kKind = launch::WorldKind::kSim;
};
struct Relay : AnyWorld {
  static constexpr launch::WorldKind kKind = launch::WorldKind::kRelay;
};

// The types that a template test case runs over.
#define LAB_PROCESS_WORLDS Processes, SharedMemory, TwoPerHost
#if defined(LAB_HAS_SIMGRID)
#define LAB_ALL_WORLDS Threads, LAB_PROCESS_WORLDS, Relay, Sim
#define LAB_WORLDS_OF_ONE_PROCESS Threads, Sim
#else
#define LAB_ALL_WORLDS Threads, LAB_PROCESS_WORLDS, Relay
#define LAB_WORLDS_OF_ONE_PROCESS Threads
#endif

template <typename World>
launch::WorldSpec choose_world(int num_ranks, double timeout_seconds = 60) {
  launch::WorldSpec spec = choose_world(World::kKind, num_ranks, timeout_seconds);
  World::complete(spec);
  return spec;
}

inline const std::vector<int>& world_sizes() {
  static const std::vector<int> sizes = {1, 2, 3, 4, 5, 8};
  return sizes;
}

/// The rank's failure message; empty when it returned.
inline std::string message_of_rank(const launch::WorldOutcome& outcome, int rank) {
  const auto& failure = outcome.ranks[static_cast<std::size_t>(rank)].failure;
  return failure ? failure->message : "";
}

inline int exit_code_of_rank(const launch::WorldOutcome& outcome, int rank) {
  const auto& failure = outcome.ranks[static_cast<std::size_t>(rank)].failure;
  return failure ? failure->exit_code : 0;
}

inline const at::Tensor& tensor_of_rank(const launch::WorldOutcome& outcome, int rank, const std::string& name) {
  return outcome.ranks[static_cast<std::size_t>(rank)].tensors.at(name);
}

}  // namespace lab

TYPE_TO_STRING_AS("threads", lab::Threads);
TYPE_TO_STRING_AS("processes", lab::Processes);
TYPE_TO_STRING_AS("processes that share memory", lab::SharedMemory);
TYPE_TO_STRING_AS("processes on hosts of two", lab::TwoPerHost);
TYPE_TO_STRING_AS("relay", lab::Relay);
TYPE_TO_STRING_AS("sim", lab::Sim);
