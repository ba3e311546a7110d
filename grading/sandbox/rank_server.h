#pragma once

#include <sched.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grading/sandbox/sandbox.h"

namespace lab::grading {

/// The judged ranks of one program. It is started in a sandbox when the first is needed, as a fork server that makes the
/// ranks of one world after the other (common/rank/start/rank_server.h), and ends with this object. In one sandbox, ranks
/// cannot reach each other: the filter that holds before their first constructor allows nothing but computing, and
/// reading and writing what they were given.
class RankServer {
 public:
  /// `readable`: what the program may read in addition to the system's own.
  RankServer(const Sandbox& sandbox, std::string program, std::vector<std::string> readable = {});
  ~RankServer();
  RankServer(const RankServer&) = delete;
  RankServer& operator=(const RankServer&) = delete;

  const std::string& program() const { return program_; }
  const Sandbox& sandbox() const { return sandbox_; }

  /// Makes a rank, which inherits the relay's end, and stays on `cores` from when it is first heard of, if there are any.
  /// Who kills it kills all ranks of its world.
  StartedJob start(int rank, int size, bool shaken, int relay_end, const std::optional<cpu_set_t>& cores = {});

  /// Ends the server and its ranks. The next start() starts it anew.
  void end();

  /// What all ranks of a world may use.
  static SandboxLimits limits();

 private:
  class Process;
  class RankJob;

  const Sandbox& sandbox_;
  std::string program_;
  std::vector<std::string> readable_;
  std::shared_ptr<Process> process_;  // null: not started
};

}  // namespace lab::grading
