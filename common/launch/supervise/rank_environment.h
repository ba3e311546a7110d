#pragma once

#include <functional>
#include <optional>
#include <string>

namespace lab {

// Slurm's compact notations.

/// Example   first_host("node[03-05,09],login1") == "node03"
std::string first_host(const std::string& node_list);

/// Tasks on the node of this number. Nothing where the text has no such node or is no such list.
/// Example   tasks_on_node("2(x3),1", 3) == 1
std::optional<int> tasks_on_node(const std::string& tasks_per_node, int node);

/// Set by labrun for the ranks that it starts, beside torchrun's RANK and friends.
inline constexpr const char* kLauncherVariable = "LAB_LAUNCHER";     ///< who launched: "labrun"
inline constexpr const char* kEventFileVariable = "LAB_EVENT_FILE";  ///< the launcher's event file
inline constexpr const char* kMeetingSocketVariable =
    "LAB_MEETING_SOCKET";                                       ///< where the ranks of one machine meet without a port
inline constexpr const char* kTokenVariable = "LAB_JOB_TOKEN";  ///< only ranks that know it may meet

/// A rank's place in a world that somebody else launched.
struct RankEnvironment {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  ///< among the ranks of this machine; the rank itself where the launcher does not say
  int local_size = 1;  ///< ranks on this machine; the world size where the launcher does not say
  std::string source;  ///< "torchrun", "labrun", "Open MPI", "PMI", "Slurm", or "RANK and WORLD_SIZE" when set by hand
  std::string node;    ///< SLURM_NODEID, or "N/A"
  std::string master_addr;  ///< machine of rank 0; empty where a store file serves, or nobody needs to be met
  int master_port = 0;
  bool agent_store = false;    ///< the launcher itself listens on master_port already, and no rank may bind it
  int attempt = 0;             ///< of torchrun --max-restarts, from 0
  std::string meeting_socket;  ///< meet here and not over the port; empty: use the port
  std::string token;       ///< of this job: random where labrun passes one, else what the launcher calls the job. Keeps
                           ///< stray ranks out, but not an attacker, who can find the job's number
  std::string event_file;  ///< empty: nobody watches
};

using VariableLookup = std::function<std::optional<std::string>(const char* name)>;

/// Looks into this process's own environment. A variable that is set to nothing counts as not set.
std::optional<std::string> process_variable(const char* name);

/// The world this process was launched into, or nothing: then it was started plainly and launches itself.
/// Looked for in this order: RANK and WORLD_SIZE (torchrun, labrun), OMPI_COMM_WORLD_* (Open MPI), PMI_* (MPICH, Intel
/// MPI), SLURM_PROCID and SLURM_NTASKS (srun). Not taken for a rank: a batch script, an interactive Slurm shell, a step
/// of one task. With Open MPI, PMI and Slurm, MASTER_ADDR and MASTER_PORT may be set by hand and then win; otherwise
/// the address is the step's first host (Open MPI: where mpirun runs; one machine: 127.0.0.1) and the port, 20000 to
/// 29999, is drawn from the job's number, so that two jobs on a machine seldom meet. Errors    UsageError: half of a
/// pair is set, a value is not a number or out of range, rank >= world size, world size < 1,
///           no address for rank 0
std::optional<RankEnvironment> rank_environment(const VariableLookup& lookup = process_variable);

}  // namespace lab
