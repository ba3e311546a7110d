#pragma once

#include <string>
#include <thread>
#include <vector>

#include "common/base/files.h"

namespace lab::launch {

struct RankOutputOptions {
  std::string log_dir;      ///< empty: no files
  bool tee_stdout = false;  ///< copy to this process's own output, in whole lines that never interleave
  bool tee_stderr = false;
};

/// Where the ranks of a run write: LOG_DIR/rank<r>.log and .err, created from scratch, this process's output, or both.
/// Example   RankOutput output({"logs", true, true});
///           for (int r...) { auto fds = output.open(r); exec_process(argv, env, {false, fds.out, fds.err}); }
///           output.start();  ... wait for the ranks ...  output.finish();
class RankOutput {
 public:
  /// Errors    UsageError: the folder cannot be created
  explicit RankOutput(RankOutputOptions options);
  ~RankOutput();
  RankOutput(const RankOutput&) = delete;
  RankOutput& operator=(const RankOutput&) = delete;

  struct Fds {
    int out = -1;  ///< -1: inherited
    int err = -1;
  };
  /// Errors    UsageError: a file cannot be created
  Fds open(int rank);

  /// Call after the last rank was started: closes the ranks' ends, and starts the copying thread.
  void start();

  /// Call after all writing processes have ended: returns when all output has been written.
  void finish();

 private:
  // One stream of one rank, copied by this process.
  struct Stream {
    UniqueFd from;
    UniqueFd file;
    int terminal = 1;
    std::string line;  // the part received of an incomplete line
  };

  int open_stream(int rank, const char* suffix, bool tee, int terminal);
  void copy_all();
  static bool copy_some(Stream& stream);

  RankOutputOptions options_;
  std::vector<UniqueFd> held_by_ranks_;
  std::vector<Stream> streams_;
  std::thread copier_;
};

}  // namespace lab::launch
