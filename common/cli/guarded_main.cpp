#include "common/cli/guarded_main.h"

#include <fcntl.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "common/base/failure.h"
#include "common/base/files.h"
#include "common/base/text.h"

namespace lab::cli {

namespace {

/// Opens /dev/null on each of descriptors 0 to 2 that is closed. Otherwise a file opened later would get that number,
/// and printed output would end up in it.
void open_closed_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) == -1 && errno == EBADF) ::open("/dev/null", O_RDWR);  // gets the lowest free number
  }
}

}  // namespace

const char* program_name(const char* argv0) {
  const char* slash = std::strrchr(argv0, '/');
  return slash ? slash + 1 : argv0;
}

int guarded_main(int argc, char** argv, const std::function<ExitCode(int, char**)>& body) {
  open_closed_standard_descriptors();
  constexpr int kInternal = static_cast<int>(ExitCode::kInternal);
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding the file size limit (ulimit -f) is then an error with a message
  const std::string program = argc > 0 ? program_name(argv[0]) : "lab";
  try {
    return static_cast<int>(body(argc, argv));
  } catch (const std::exception& failure) {
    const int exit_code = exit_code_of(failure);
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
