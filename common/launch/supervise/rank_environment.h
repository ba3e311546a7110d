#pragma once

#include <functional>
#include <optional>
#include <string>

namespace lab::launch {

// Slurm's compact notations.

/// Example   first_host("node[03-05,09],login1") == "node03"
std::string first_host(const std::string& node_list);

/// Tasks on the node with this number. Empty if the list has no such node or is invalid.
/// Example   tasks_on_node("2(x3),1", 3) == 1
std::optional<int> tasks_on_node(const std::string& tasks_per_node, int node);

/// "::1" for "[::1]", as an IPv6 address is written next to a port.
std::string without_brackets(const std::string& host);

/// Set by labrun for the ranks that it starts, in addition to torchrun's RANK etc.
inline constexpr const char* kLauncherVariable = "LAB_LAUNCHER";     ///< who launched: "labrun"
inline constexpr const char* kEventFileVariable = "LAB_EVENT_FILE";  ///< the launcher's event file
/// Rendezvous socket for the ranks of one machine, used instead of a port.
inline constexpr const char* kRendezvousSocketVariable = "LAB_RENDEZVOUS_SOCKET";
inline constexpr const char* kTokenVariable = "LAB_JOB_TOKEN";  ///< only ranks that know it are admitted

/// A rank's place in a world started by a launcher.
struct RankEnvironment {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  ///< among the ranks of this machine; the rank itself where the launcher does not say
  int local_size = 1;  ///< ranks on this machine; the world size where the launcher does not say
  std::optional<int> allotted_cores;  ///< to the ranks of this machine, by Slurm, which need not enforce it
  std::string source;  ///< "torchrun", "labrun", "Open MPI", "PMI", "Slurm", or "RANK and WORLD_SIZE" when set by hand
  std::string node;    ///< SLURM_NODEID, or "N/A"
  std::string master_addr;  ///< machine of rank 0; empty if not needed: a socket is used, or the world is one rank
  int master_port = 0;
  bool agent_store = false;       ///< the launcher itself already listens on master_port, and no rank may bind it
  int attempt = 0;                ///< of torchrun --max-restarts, from 0
  std::string rendezvous_socket;  ///< rendezvous here instead of at the port; empty: use the port
  /// Of this job: random if labrun passes one, else the launcher's job ID. Keeps stray ranks out, but not an attacker,
  /// who can find the job ID.
  std::string token;
  std::string event_file;  ///< empty: not watched by a launcher
};

using VariableLookup = std::function<std::optional<std::string>(const char* name)>;

/// Reads this process's environment. An empty variable counts as not set.
std::optional<std::string> process_variable(const char* name);

/// The world this process was launched into, or nothing: then it was started without a launcher and launches itself.
/// Checked in this order:
/// - RANK and WORLD_SIZE (torchrun, labrun)
/// - OMPI_COMM_WORLD_* (Open MPI)
/// - PMI_* (MPICH, Intel MPI)
/// - SLURM_PROCID and SLURM_NTASKS (srun)
/// Not treated as a rank: a batch script, an interactive Slurm shell, a step of one task. With Open MPI, PMI and Slurm,
/// MASTER_ADDR and MASTER_PORT may be set by hand and take precedence; otherwise the address is the step's first host
/// (Open MPI: where mpirun runs; one machine: 127.0.0.1) and the port, 20000 to 29999, is derived from the job ID, so
/// that two jobs on a machine rarely collide.
/// Errors    UsageError: half of a pair is set, a value is not a number or out of range, rank >= world size, world
///           size < 1, no address for rank 0
std::optional<RankEnvironment> rank_environment(const VariableLookup& lookup = process_variable);

}  // namespace lab::launch
