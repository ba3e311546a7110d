#pragma once

#include <signal.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/subprocess.h"
#include "common/bench/gloo_peer.h"
#include "common/bench/twin.h"

namespace lab {

/// Others' collectives in processes of their own: Open MPI's ranks (mpi_peer.cpp), and Python's (a9_handout.py).
struct PeerLibrary {
  std::string name;  ///< "mpi tcp", the contender's name in its rows
  /// The programs that start the twins of all ranks, which listen in this folder: rank r starts the r-th, if any.
  std::function<std::vector<ProcessSpec>(int num_ranks, const std::string& folder)> programs;
};

/// The peers that work on this machine, each tried once, with a line for each: its library, or why it is left out.
struct UsablePeers {
  std::vector<PeerLibrary> peers;
  std::vector<std::string> lines;
};
UsablePeers usable_peers(int num_ranks, bool no_mpi, bool no_python);

/// The ranks of peers in processes of their own, each the twin of one of ours; asleep unless asked. Collective.
class PeerTwins {
 public:
  PeerTwins(const std::vector<PeerLibrary>& peers, const std::string& folder, int rank, int size, GlooPeer& gloo) {
    for (const PeerLibrary& peer : peers) twins_.push_back({peer, Twin(folder, peer.name, rank)});
    gloo.barrier();
    const SchedulingScope scope(GlooPeer::Scheduling::kUsual);  // a program keeps what it was started with
    for (PeerTwin& one : twins_) {
      const std::vector<ProcessSpec> all = one.peer.programs(size, folder);
      const auto own = static_cast<std::size_t>(rank);
      programs_.push_back(own < all.size() ? std::make_unique<Subprocess>(all[own]) : nullptr);
      Subprocess* const program = programs_.back().get();
      if (program != nullptr) one.twin.watch([program] { return program->wait_for(0); });
    }
  }
  ~PeerTwins() {
    twins_.clear();  // which ends them
    for (const auto& program : programs_) {
      if (program) program->wait_for(10);
    }
  }
  PeerTwins(const PeerTwins&) = delete;
  PeerTwins& operator=(const PeerTwins&) = delete;

  struct PeerTwin {
    PeerLibrary peer;
    Twin twin;
  };
  std::vector<PeerTwin>& all() { return twins_; }

  /// Ends this rank's programs of the peers that are lost: their ranks may wait for each other, at full speed.
  void end_lost() {
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      if (!programs_[i] || !twins_[i].twin.is_lost()) continue;
      ::kill(programs_[i]->pid(), SIGTERM);  // mpirun then ends its ranks
      programs_[i]->wait_for(5);
      programs_[i].reset();
    }
  }

 private:
  std::vector<PeerTwin> twins_;
  std::vector<std::unique_ptr<Subprocess>> programs_;  ///< by peer; null: another rank's
};

}  // namespace lab
