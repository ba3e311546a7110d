#include "common/cli/guarded_main.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "common/base/failure.h"
#include "common/base/files.h"
#include "common/base/machine_limits.h"
#include "common/base/text.h"

namespace lab::cli {

namespace {

/// A signal that ends a program from outside, and whether this one was started with it ignored, as under nohup.
struct EndingSignal {
  int number;
  bool was_ignored;
};
std::array<EndingSignal, 4> ending_signals = {{{SIGINT, false}, {SIGTERM, false}, {SIGHUP, false}, {SIGQUIT, false}}};

void note_ignored_signals(int, char**, char**) {
  for (EndingSignal& signal : ending_signals) {
    struct sigaction action = {};
    signal.was_ignored = ::sigaction(signal.number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
  }
}

// Before the constructors of libraries: that of UCX, which Debian 13's LibTorch loads, takes SIGHUP for itself.
[[gnu::section(".preinit_array"), gnu::used]] void (*const kFirst)(int, char**, char**) = note_ignored_signals;

/// As if no library had been loaded: a program ends with its terminal, and under nohup it does not.
void restore_ending_signals() {
  for (const EndingSignal& signal : ending_signals) std::signal(signal.number, signal.was_ignored ? SIG_IGN : SIG_DFL);
}

/// Opens /dev/null on each of descriptors 0 to 2 that is closed. Otherwise a file opened later would get that number,
/// and printed output would end up in it. What is printed on a closed standard output must not get lost silently.
void open_closed_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) == -1 && errno == EBADF)
      ::open("/dev/null", fd == 1 ? O_RDONLY : O_RDWR);  // gets the lowest free number
  }
}

/// What body returned, if all output was written; an error stays one.
int finish_output(ExitCode exit_code, const std::string& program) {
  try {
    errno = EIO;
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) throw_unwritable(1, errno);
    if (std::ferror(stderr) != 0) throw UsageError("cannot write to standard error: expected room for every message");
  } catch (const UsageError& failure) {
    write_fully(2, program + ": error: " + failure.what() + "\n");
    if (exit_code == ExitCode::kAllMatch) exit_code = ExitCode::kUsage;
  }
  return static_cast<int>(exit_code);
}

}  // namespace

const char* program_name(const char* argv0) {
  const char* slash = std::strrchr(argv0, '/');
  return slash ? slash + 1 : argv0;
}

int guarded_main(int argc, char** argv, const std::function<ExitCode(int, char**)>& body) {
  open_closed_standard_descriptors();
  restore_ending_signals();
  constexpr int kInternal = static_cast<int>(ExitCode::kInternal);
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding the file size limit (ulimit -f) is then an error with a message
  std::signal(SIGCHLD, SIG_DFL);  // if it is ignored, a child's exit code is lost
  const std::string program = argc > 0 ? program_name(argv[0]) : "lab";
  try {
    return finish_output(body(argc, argv), program);
  } catch (const std::exception& failure) {
    const int exit_code = choose_exit_code(failure);
    const bool of_suite = exit_code == kInternal && dynamic_cast<const Error*>(&failure) == nullptr;
    const std::string what = (of_suite ? ": internal error: " : ": error: ") + student_message(&failure);
    write_fully(2, without_commands(program + what) + "\n");
    return exit_code;
  } catch (...) {
    write_fully(2, program + ": internal error: something that is not an exception was thrown\n");
  }
  return kInternal;
}

}  // namespace lab::cli
