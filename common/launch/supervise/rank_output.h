#pragma once

#include <string>
#include <thread>
#include <vector>

#include "common/base/files.h"

namespace lab {

struct RankOutputOptions {
  std::string log_dir;      ///< empty: no files
  bool tee_stdout = false;  ///< copy to this process's own output, in whole lines that never interleave
  bool tee_stderr = false;
};

/// Where the ranks of a run write: LOG_DIR/rank<r>.log and .err, made anew, this process's own output, or both.
/// Example   RankOutput output({"logs", true, true});
///           for (int r...) { auto fds = output.open(r); exec_rank(argv, env, {false, fds.out, fds.err}); }
///           output.start();  ... wait for the ranks ...  output.finish();
class RankOutput {
 public:
  /// Errors    UsageError: the folder cannot be made
  explicit RankOutput(RankOutputOptions options);
  ~RankOutput();
  RankOutput(const RankOutput&) = delete;
  RankOutput& operator=(const RankOutput&) = delete;

  struct Fds {
    int out = -1;  ///< -1: inherited
    int err = -1;
  };
  /// Errors    UsageError: a file cannot be made
  Fds open(int rank);

  /// After the last rank was made: closes what only the ranks hold, and starts the thread that copies.
  void start();

  /// After all processes that write have ended: returns when everything is in its place.
  void finish();

 private:
  // One stream of one rank on its way through this process.
  struct Stream {
    UniqueFd from;
    UniqueFd file;
    int terminal = 1;
    std::string line;  // what has come of a line that is not whole yet
  };

  int open_stream(int rank, const char* suffix, bool tee, int terminal);
  void copy_all();
  static bool copy_some(Stream& stream);

  RankOutputOptions options_;
  std::vector<UniqueFd> held_by_ranks_;
  std::vector<Stream> streams_;
  std::thread copier_;
};

}  // namespace lab
