#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/files.h"

namespace lab {

/// What a process writes into a pipe, read while it runs.
class CapturedOutput {
 public:
  /// Makes the pipe. `max_bytes` are kept; the rest is counted and dropped.
  /// Errors    UsageError: the system refuses a pipe
  explicit CapturedOutput(std::size_t max_bytes);

  /// The end that the process inherits (close-on-exec here); close it once it has been passed on.
  UniqueFd& write_end() { return write_end_; }
  /// To be polled; -1 once all ends for writing are closed and everything is read.
  int read_end() const { return read_end_.get(); }
  /// Takes what is there, but not forever: a program that prints endlessly must not keep its reader from the clock.
  void read();

  const std::string& text() const { return text_; }
  std::uint64_t dropped_bytes() const { return dropped_; }

 private:
  std::size_t max_bytes_;
  UniqueFd read_end_, write_end_;
  std::string text_;
  std::uint64_t dropped_ = 0;
};

/// A pipe: the ends for reading and for writing, both close-on-exec.
/// Errors    UsageError: the system refuses it
std::pair<UniqueFd, UniqueFd> make_pipe();

}  // namespace lab

// Creates processes. Each dies with the process that created it (SIGKILL, however that one ended), leads its own process
// group, so that everything it starts can be signalled with it, and starts with no signal blocked or handled.
namespace lab {

struct ProcessOptions {
  bool keep_terminal = false;  ///< stay in this process's group and keep its terminal as input, as a debugger must
  int stdout_fd = -1;          ///< negative: this process's own
  int stderr_fd = -1;
  int stdin_fd = -1;
  std::vector<int> inherited = {};  ///< close-on-exec descriptors that the program keeps, by the same numbers
  std::string folder = {};          ///< a program's working directory; empty: this process's own
};

/// Runs body in a child, which ends by _exit with what body returns: no destructor or exit handler of the parent runs
/// twice. An exception from body becomes one line on stderr and its exit code.
/// Call      from the main thread, before any other thread is started: a child dies with the *thread* that created it
/// Errors    UsageError: the process cannot be created
pid_t fork_process(const std::function<int()>& body, const ProcessOptions& options = {});

/// Runs a program, looked up in PATH, with `environment` added to this process's own. Returns once it is running.
/// Errors    UsageError: it does not exist or cannot be run; no process is left
pid_t exec_process(const std::vector<std::string>& argv, const std::map<std::string, std::string>& environment,
                   const ProcessOptions& options = {});

/// Runs a program in the place of this process: with its process id, group and output, and an empty input.
/// Errors    UsageError: it does not exist or cannot be run
[[noreturn]] void become_program(const std::vector<std::string>& argv,
                                 const std::map<std::string, std::string>& environment);

/// Of a status from waitpid(): the exit code, or 128 + signal.
int exit_code_of_status(int status);

/// Of a status from waitpid(): "killed by signal 9 (SIGKILL)" or "exited with code 3".
std::string describe_status(int status);

/// The words of a command, as a shell splits it: a word with special characters is quoted, or has backslashes. Nothing: a
/// quote is not closed.
/// Example   split_command("srun -J 'my class'"): "srun", "-J", "my class"
std::optional<std::vector<std::string>> split_command(std::string_view command);

/// Whether there is a program of this name in PATH or, where it has a slash, at this path.
bool is_in_path(const std::string& program);

/// The path of the program that this process runs.
std::string own_program();

/// A program to be run.
struct ProcessSpec {
  std::vector<std::string> argv;                   ///< the program is looked up in PATH
  std::map<std::string, std::string> environment;  ///< added to this process's own
  std::string folder;                              ///< its working directory; empty: this process's own
  std::optional<std::string> input;                ///< its stdin; none: this process's own
  std::vector<int> inherited;                      ///< close-on-exec descriptors that it keeps, by the same numbers
  bool capture = true;                             ///< its stdout and stderr; otherwise they are this process's own
  std::size_t max_output_bytes = 256u << 20;       ///< kept of each; the rest is counted and dropped
};

/// A program that was started. What is left of its process group when it ends is killed.
/// Call      from a thread that lives as long as the program does
class Subprocess {
 public:
  /// Errors    UsageError: it cannot be started
  explicit Subprocess(const ProcessSpec& command);
  ~Subprocess();  ///< kills it if it has not ended
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  pid_t pid() const { return pid_; }
  /// Reads its output. True as soon as it has ended; false after the given time.
  bool wait_for(double seconds);
  /// Kills it and its group.
  void kill();

  int status() const { return status_; }  ///< as from waitpid(), once it has ended
  const std::string& out() const { return out_.text(); }
  const std::string& err() const { return err_.text(); }
  std::uint64_t dropped_bytes() const { return out_.dropped_bytes() + err_.dropped_bytes(); }

 private:
  void collect(int milliseconds);

  CapturedOutput out_, err_;
  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

/// How a program ended.
struct ProgramEnd {
  int status = 0;  ///< as from waitpid()
  std::string out, err;
  bool timed_out = false;
  double max_seconds = 0;  ///< that it was given

  bool well() const { return status == 0 && !timed_out; }
  /// "exited with code 1: no such file": its stderr on one line, truncated; "timed out after 2 s: ...".
  std::string message() const;
};

/// Runs a program to its end. After max_seconds it is asked to end (SIGTERM, so that a launcher can end what it
/// started), and killed five seconds later.
/// Errors    UsageError: it cannot be started
ProgramEnd run_program(const ProcessSpec& command, double max_seconds = 1e9);

}  // namespace lab
