#include "common/launch/supervise/rank_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "common/api/errors.h"
#include "common/base/checksum.h"
#include "common/base/option_value.h"
#include "common/base/text.h"
#include "common/comm/rendezvous/loopback.h"

namespace lab::launch {
namespace {

// The variables that tell a rank its place, by launcher.
struct Family {
  const char* source;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
};

constexpr Family kTorchrun = {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
constexpr Family kMpi[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
};

constexpr int kFirstPort = 20000, kNumPorts = 10000;  // below the system's ephemeral ports

class Finder {
 public:
  explicit Finder(const VariableLookup& lookup) : lookup_(lookup) {}

  std::optional<RankEnvironment> find() const {
    std::optional<RankEnvironment> world = torchrun();
    for (const Family& family : kMpi) {
      if (!world) world = mpi(family);
    }
    if (!world) world = slurm();
    const std::optional<int> hand_set_size = number("WORLD_SIZE");
    if (!world && hand_set_size) fail_half_set("WORLD_SIZE", "RANK");
    if (world && hand_set_size && *hand_set_size != world->size) {
      throw UsageError(fmt::format("WORLD_SIZE is {}, but {} launched {}", *hand_set_size, world->source,
                                   counted(world->size, "rank")));
    }
    if (world) {
      world->node = text("SLURM_NODEID").value_or("N/A");
      world->allotted_cores = number("SLURM_CPUS_ON_NODE");
    }
    return world;
  }

 private:
  std::optional<std::string> text(const char* name) const {
    std::optional<std::string> value = lookup_(name);
    return value && value->empty() ? std::nullopt : value;
  }

  std::optional<int> number(const char* name) const {
    const std::optional<std::string> value = text(name);
    if (!value) return std::nullopt;
    const std::optional<int> number = option::integer<int>(*value);
    if (!number)
      throw UsageError(fmt::format("environment variable {}: expected an integer, got \"{}\"", name, *value));
    return number;
  }

  [[noreturn]] static void fail_half_set(const char* set, const char* missing) {
    throw UsageError(
        fmt::format("the environment is half-set: {} is set but {} is not; set both, or unset {} to let the program "
                    "launch its own ranks",
                    set, missing, set));
  }

  // Checks rank and size for every family; empty if neither is set.
  std::optional<RankEnvironment> place(const Family& family) const {
    const std::optional<int> rank = number(family.rank), size = number(family.size);
    if (!rank && !size) return std::nullopt;
    if (!rank) fail_half_set(family.size, family.rank);
    if (!size) fail_half_set(family.rank, family.size);
    RankEnvironment world;
    world.source = family.source;
    world.rank = *rank;
    world.size = *size;
    if (world.size < 1)
      throw UsageError(fmt::format("{} is {}: a world has at least one rank", family.size, world.size));
    if (world.rank < 0 || world.rank >= world.size) {
      throw UsageError(fmt::format("{} is {}, but {} is {}: expected a rank from 0 to {}", family.rank, world.rank,
                                   family.size, world.size, world.size - 1));
    }
    const std::optional<int> local_rank = number(family.local_rank), local_size = number(family.local_size);
    world.local_rank = local_rank.value_or(world.rank);
    world.local_size = local_size.value_or(world.size);
    if (!local_size && (world.local_rank < 0 || world.local_rank >= world.size)) {
      throw UsageError(fmt::format("{} is {}: expected a rank from 0 to {}, since {} is {}", family.local_rank,
                                   world.local_rank, world.size - 1, family.size, world.size));
    }
    if (world.local_rank < 0 || world.local_rank >= world.local_size || world.local_size > world.size) {
      throw UsageError(fmt::format("{} {} and {} {} do not fit a world of {}", family.local_rank, world.local_rank,
                                   family.local_size, world.local_size, counted(world.size, "rank")));
    }
    return world;
  }

  std::optional<std::string> master_addr() const {
    const std::optional<std::string> address = text("MASTER_ADDR");
    return address ? std::optional(without_brackets(*address)) : std::nullopt;
  }

  std::optional<int> master_port() const {
    const std::optional<int> port = number("MASTER_PORT");
    if (port && (*port < 1 || *port > 65535))
      throw UsageError(fmt::format("MASTER_PORT is {}: expected a port from 1 to 65535", *port));
    return port;
  }

  std::optional<RankEnvironment> torchrun() const {
    if (!text("RANK")) return std::nullopt;  // WORLD_SIZE alone: job scripts set it alongside another launcher
    RankEnvironment world = *place(kTorchrun);
    const std::optional<std::string> launcher = text(kLauncherVariable);
    if (launcher) {
      world.source = *launcher;
      world.event_file = text(kEventFileVariable).value_or("");
      world.rendezvous_socket = text(kRendezvousSocketVariable).value_or("");
    } else if (!text("TORCHELASTIC_RUN_ID")) {
      world.source = "RANK and WORLD_SIZE";
    }
    world.agent_store = text("TORCHELASTIC_USE_AGENT_STORE") == "True";
    world.attempt = number("TORCHELASTIC_RESTART_COUNT").value_or(0);
    const std::string run = text("TORCHELASTIC_RUN_ID").value_or(text("SLURM_JOB_ID").value_or(""));
    world.token = token(fmt::format("{}.{}", run, world.attempt));
    const std::optional<std::string> address = master_addr();
    const std::optional<int> port = master_port();
    if (world.size > 1 && world.rendezvous_socket.empty()) {
      if (!address && !port) {
        throw UsageError(
            "RANK and WORLD_SIZE are set, but MASTER_ADDR and MASTER_PORT are not: the ranks have no address for the "
            "rendezvous");
      }
      if (!port) fail_half_set("MASTER_ADDR", "MASTER_PORT");
      if (!address) fail_half_set("MASTER_PORT", "MASTER_ADDR");
    }
    world.master_addr = address.value_or("");
    world.master_port = port.value_or(0);
    return world;
  }

  std::optional<RankEnvironment> mpi(const Family& family) const {
    std::optional<RankEnvironment> world = place(family);
    if (!world || (world->size == 1 && !text(family.local_size) && is_slurm_step_of_one_task())) return std::nullopt;
    const bool one_machine = text(family.local_size) && world->local_size == world->size;
    meet(*world, one_machine ? loopback() : mpi_host());
    return world;
  }

  // Where mpirun runs, as told to its ranks: "242679808.0;tcp://192.0.2.2,10.0.0.1:38487;tcp6://...". Rank 0 is there
  // too unless the user's host list says otherwise.
  std::string mpi_host() const {
    const std::string uri = text("OMPI_MCA_orte_hnp_uri").value_or("");
    if (const std::size_t tcp = uri.find("tcp://"); tcp != std::string::npos) {
      return uri.substr(tcp + 6, uri.find_first_of(",:;", tcp + 6) - tcp - 6);
    }
    return slurm_host();
  }

  // Where the ranks may need none.
  std::string loopback() const { return text("MASTER_ADDR") ? "" : loopback_address(); }

  std::string slurm_host() const {
    for (const char* nodes : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"}) {
      if (const auto list = text(nodes)) return first_host(*list);
    }
    return text("SLURM_LAUNCH_NODE_IPADDR").value_or("");
  }

  std::optional<RankEnvironment> slurm() const {
    if (!text("SLURM_PROCID") || is_slurm_shell() || is_slurm_step_of_one_task()) return std::nullopt;
    RankEnvironment world = *place({"Slurm", "SLURM_PROCID", slurm_size(), "", ""});
    const int node = number("SLURM_NODEID").value_or(0);
    for (const char* tasks_per_node : {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"}) {
      const auto local_size = tasks_on_node(text(tasks_per_node).value_or(""), node);
      if (local_size && *local_size >= 1 && *local_size <= world.size) {
        world.local_size = *local_size;
        break;
      }
    }
    world.local_rank = number("SLURM_LOCALID").value_or(world.rank % world.local_size);
    const bool one_machine =
        world.local_size == world.size && (number("SLURM_NNODES") == 1 || number("SLURM_STEP_NUM_NODES") == 1);
    meet(world, one_machine ? loopback() : slurm_host());
    return world;
  }

  const char* slurm_size() const { return text("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS"; }

  // By srun's own PMI (--mpi=pmi2), the task has a PMI rank, too; MPICH's mpirun also says which rank of the machine it is.
  bool is_slurm_step_of_one_task() const { return text("SLURM_PROCID") && number(slurm_size()) == 1; }

  // sbatch gives the job's script SLURM_PROCID=0 though it is not a rank. Shells have reserved step numbers, from
  // 2^32 - 6 on.
  bool is_slurm_shell() const {
    const std::optional<std::string> step = text("SLURM_STEP_ID");
    if (!step) return text("ENVIRONMENT") == "BATCH";
    return !option::integer<int>(*step);
  }

  void meet(RankEnvironment& world, const std::string& host) const {
    world.master_addr = master_addr().value_or(host);
    world.master_port = master_port().value_or(port_of_this_job());
    world.token = token(job());
    if (world.size > 1 && world.master_addr.empty()) {
      throw UsageError(
          fmt::format("launched by {}, but rank 0's address is unknown: set MASTER_ADDR to its machine", world.source));
    }
  }

  std::string token(const std::string& job) const { return text(kTokenVariable).value_or(job); }

  // An ID that all ranks of a job share, and no rank of another job has. A launcher's own ID takes precedence over
  // Slurm's, whose step number differs between ranks when mpirun runs inside an allocation.
  std::string job() const {
    for (const char* name : {"OMPI_MCA_ess_base_jobid", "PMIX_NAMESPACE", "PMI_JOBID"}) {
      if (const auto id = text(name)) return *id;
    }
    return text("SLURM_JOB_ID").value_or("") + "." + text("SLURM_STEP_ID").value_or("");
  }

  int port_of_this_job() const {
    const std::uint64_t hash = compute_checksum(job());
    return kFirstPort + static_cast<int>((hash ^ (hash >> 32)) % kNumPorts);
  }

  const VariableLookup& lookup_;
};

}  // namespace

std::string first_host(const std::string& node_list) {
  std::string host;
  for (std::size_t i = 0; i < node_list.size() && node_list[i] != ','; ++i) {
    if (node_list[i] != '[') {
      host += node_list[i];
      continue;
    }
    const std::size_t end_of_first = std::min(node_list.find_first_of("-,]", i), node_list.size());
    host += node_list.substr(i + 1, end_of_first - i - 1);
    i = std::min(node_list.find(']', i), node_list.size());
  }
  return host;
}

std::string without_brackets(const std::string& host) {
  const bool has_both = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return has_both ? host.substr(1, host.size() - 2) : host;
}

std::optional<int> tasks_on_node(const std::string& tasks_per_node, int node) {
  for (std::size_t begin = 0; begin < tasks_per_node.size();) {
    const std::size_t end = std::min(tasks_per_node.find(',', begin), tasks_per_node.size());
    std::string tasks = tasks_per_node.substr(begin, end - begin);
    std::optional<int> repeats = 1;
    if (const std::size_t times = tasks.find("(x"); times != std::string::npos && tasks.back() == ')') {
      repeats = option::integer<int>(tasks.substr(times + 2, tasks.size() - times - 3));
      tasks.resize(times);
    }
    if (!repeats) return std::nullopt;
    if (node < *repeats) return option::integer<int>(tasks);
    node -= *repeats;
    begin = end + 1;
  }
  return std::nullopt;
}

std::optional<std::string> process_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

std::optional<RankEnvironment> rank_environment(const VariableLookup& lookup) {
  return Finder(lookup).find();
}

}  // namespace lab::launch
