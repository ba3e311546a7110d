#pragma once

#include <cstdint>
#include <string>

namespace lab::cli {

/// Options of every lab binary; App::add_common_options fills them from the command line.
struct CommonOptions {
  int num_ranks = 4;                ///< --nproc, 1 to 4096
  bool num_ranks_given = false;     ///< set by the user, so a launcher's world size must agree
  std::string world = "processes";  ///< processes, threads or sim
  std::string transport = "gloo";   ///< of processes: gloo, shm, or auto: shm within a host
  std::string device = "cpu";       ///< cpu or cuda
  std::uint64_t seed = 42;
  double timeout_seconds = 10.0;  ///< longest wait for a peer, above 0; simulated seconds in sim
  std::string save_dir;           ///< --save: folder for rank<r>.safetensors; empty: nothing is saved
  std::string trace_file;         ///< --trace; empty: no trace
  std::string out_dir = "out";    ///< --out: plots and other results
  std::string json_file;          ///< --json; empty: no report
  std::string log_dir;            ///< --log-dir: a file per rank; empty: none
  bool quiet = false;
  int debug_rank = -1;  ///< --debug-rank: the rank to start under gdb; -1: none
  int repeat = 1;       ///< --repeat: runs of the lab in one world
};

}  // namespace lab::cli
