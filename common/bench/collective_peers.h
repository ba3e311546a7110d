#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/subprocess.h"

namespace lab {

/// Others' collectives in processes of their own: Open MPI's ranks (mpi_peer.cpp), and Python's (a9_handout.py).
struct Peer {
  std::string name;  ///< "mpi tcp", the contender's name in its rows
  /// The programs that start the twins of all ranks, which listen in this folder: rank r starts the r-th, if any.
  std::function<std::vector<ProcessSpec>(int num_ranks, const std::string& folder)> programs;
};

/// The peers that work on this machine, each tried once, with a line for each: its library, or why it is left out.
struct UsablePeers {
  std::vector<Peer> peers;
  std::vector<std::string> lines;
};
UsablePeers usable_peers(int num_ranks, bool no_mpi, bool no_python);

}  // namespace lab
