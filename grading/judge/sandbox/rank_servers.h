#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "grading/judge/sandbox/sandbox.h"

namespace lab::grading {

/// The judged ranks of one program: for each rank a fork server in a sandbox of its own (common/rank/start/rank_server.h),
/// started when it is first needed, which makes the rank of one world after the other. They end with this object.
class RankServers {
 public:
  /// `readable`: what the program may read in addition to the system's own.
  RankServers(const Sandbox& sandbox, std::string program, std::vector<std::string> readable = {});
  ~RankServers();
  RankServers(const RankServers&) = delete;
  RankServers& operator=(const RankServers&) = delete;

  const std::string& program() const { return program_; }
  const Sandbox& sandbox() const { return sandbox_; }

  /// Makes a rank, which inherits the relay's end. Its server is busy until the rank has ended or was killed.
  StartedJob start(int rank, int size, bool shaken, int relay_end);

  /// Ends all servers and their ranks. The next start() starts them anew.
  void end();

  /// What each rank's process may use.
  static SandboxLimits limits();

 private:
  class Server;
  class RankJob;

  const Sandbox& sandbox_;
  std::string program_;
  std::vector<std::string> readable_;
  std::map<int, std::unique_ptr<Server>> servers_;  // by rank; null: killed
};

}  // namespace lab::grading
