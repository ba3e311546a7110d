#include "common/plot/plot_program.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"

namespace lab::plot {
namespace {

/// Bytes that a child can read or write with no process at the other end, unlike a pipe.
class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("plot", MFD_CLOEXEC)) {
    if (fd_ < 0) refuse(errno);
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int fd() const { return fd_; }

  void fill(const std::string& bytes) {
    const int failure = write_fully(fd_, bytes);
    if (failure != 0) refuse(failure);
    ::lseek(fd_, 0, SEEK_SET);
  }

  std::string content() const {
    struct stat found {};
    ::fstat(fd_, &found);
    std::string bytes(static_cast<std::size_t>(found.st_size), '\0');
    std::size_t num_read = 0;
    while (num_read < bytes.size()) {
      const ssize_t got = ::pread(fd_, &bytes[num_read], bytes.size() - num_read, static_cast<off_t>(num_read));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      num_read += static_cast<std::size_t>(got);
    }
    bytes.resize(num_read);
    return bytes;
  }

 private:
  [[noreturn]] static void refuse(int failure) {
    throw UsageError(fmt::format("no memory for a picture: {}", std::strerror(failure)));
  }

  int fd_;
};

[[noreturn]] void refuse_missing(const std::string& purpose) {
  throw UsageError(purpose + " needs gnuplot; hint: apt-get install gnuplot-nox");
}

pid_t start(const MemoryFile& in, const MemoryFile& out, const MemoryFile& err, const std::string& purpose) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in.fd(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out.fd(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.fd(), STDERR_FILENO);
  char program[] = "gnuplot";
  char no_settings_of_the_user[] = "-d";
  char* argv[] = {program, no_settings_of_the_user, nullptr};
  pid_t child = -1;
  const int failure = ::posix_spawnp(&child, program, &actions, nullptr, argv, ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure == 0) return child;
  if (failure == ENOENT) refuse_missing(purpose);
  throw UsageError(fmt::format("{}: gnuplot cannot be started: {}", purpose, std::strerror(failure)));
}

/// The child's exit status. Polls, because waitpid() has no time-out.
int wait_for(pid_t child, std::chrono::milliseconds max_wait, const std::string& purpose) {
  const auto deadline = std::chrono::steady_clock::now() + max_wait;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR)
      throw UsageError(fmt::format("{}: cannot wait for gnuplot: {}", purpose, std::strerror(errno)));
    if (std::chrono::steady_clock::now() >= deadline) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      throw UsageError(fmt::format("{}: gnuplot timed out after {:g} s", purpose, 1e-3 * max_wait.count()));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

void require_gnuplot(const std::string& purpose) {
  if (!gnuplot_found()) refuse_missing(purpose);
}

bool gnuplot_found() {
  const char* path = std::getenv("PATH");
  const std::string folders = path == nullptr ? "/bin:/usr/bin" : path;
  for (std::size_t start = 0, end = 0; end != std::string::npos; start = end + 1) {
    end = folders.find(':', start);
    const std::string file = folders.substr(start, end == std::string::npos ? end : end - start) + "/gnuplot";
    struct stat found {};
    if (::stat(file.c_str(), &found) == 0 && S_ISREG(found.st_mode) && ::access(file.c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string run_gnuplot(const std::string& script, const std::string& purpose, std::chrono::milliseconds max_wait) {
  MemoryFile in;
  const MemoryFile out;
  const MemoryFile err;
  in.fill(script);
  const pid_t child = start(in, out, err, purpose);
  const int status = wait_for(child, max_wait, purpose);
  std::string picture = out.content();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !picture.empty()) return picture;

  constexpr std::size_t kMostWords = 300;  // gnuplot repeats the line that failed
  const std::string words = one_line(err.content()).substr(0, kMostWords);
  const std::string how = WIFSIGNALED(status) ? fmt::format("was ended by signal {}", WTERMSIG(status))
                                              : fmt::format("ended with exit code {}", WEXITSTATUS(status));
  throw UsageError(fmt::format("{}: gnuplot {}{}", purpose, how, words.empty() ? " and no picture" : ": " + words));
}

}  // namespace lab::plot
