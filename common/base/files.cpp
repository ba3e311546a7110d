#include "common/base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "common/api/errors.h"

namespace lab {
namespace {

/// Blocks SIGPIPE on this thread while it lives, and consumes the one that a write here has caused.
class SigpipeHeld {
 public:
  SigpipeHeld() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~SigpipeHeld() {
    const timespec no_wait{0, 0};
    if (caused_ && !was_pending_) sigtimedwait(&sigpipe_, nullptr, &no_wait);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeHeld(const SigpipeHeld&) = delete;
  SigpipeHeld& operator=(const SigpipeHeld&) = delete;

  void caused() { caused_ = true; }

 private:
  sigset_t sigpipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
  bool caused_ = false;
};

namespace fs = std::filesystem;

/// In the same folder, because rename() works only within one file system. No two writers share a name.
int open_beside(const std::string& target, std::string& temporary) {
  for (int attempt = 0;; ++attempt) {
    temporary = fmt::format("{}.{}.{}.tmp", target, ::getpid(), attempt);
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
}

}  // namespace

int write_fully(int fd, std::string_view text) {
  SigpipeHeld sigpipe;
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd ready{fd, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      const int failure = errno;
      if (failure == EPIPE) sigpipe.caused();
      return failure;
    }
  }
  return 0;
}

std::string read_file(const std::string& path) {
  // A folder can be opened and fails only when it is read.
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) throw UsageError(fmt::format("{}: cannot be read: a folder", path));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno == 0 ? EIO : errno)));
  std::string text;
  std::array<char, 1 << 16> block;
  while (file.read(block.data(), block.size()), file.gcount() > 0)
    text.append(block.data(), static_cast<std::size_t>(file.gcount()));
  return text;
}

void make_folder(const std::string& option, const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (!failure && access(path.c_str(), W_OK) == 0) return;
  throw UsageError(fmt::format("{} {}: expected a folder that can be made or written to", option, path));
}

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  if (path_.empty()) refuse("expected the name of a file, got nothing");
  std::error_code ignored;
  const fs::path resolved = fs::weakly_canonical(path_, ignored);
  target_ = resolved.empty() ? path_ : resolved.string();

  struct stat found {};
  const bool exists = ::stat(path_.c_str(), &found) == 0;
  if ((exists && S_ISDIR(found.st_mode)) || path_.back() == '/') refuse("it is a folder; expected a file");
  if (exists && !S_ISREG(found.st_mode)) {
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) refuse(std::strerror(errno));
    return;
  }
  fd_ = open_beside(target_, temporary_);
  if (fd_ >= 0) return;
  const int failure = errno;
  temporary_.clear();
  const std::string folder = fs::path(target_).parent_path().string();
  if (failure == ENOENT) refuse(fmt::format("there is no folder '{0}'; try mkdir -p '{0}'", folder));
  refuse(fmt::format("{} (in the folder '{}')", std::strerror(failure), folder));
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  const int failure = write_fully(fd_, bytes);
  if (failure != 0) refuse(std::strerror(failure));
}

void AtomicFile::commit() {
  // Closed first: a full disk or quota may be reported only then.
  if (::close(std::exchange(fd_, -1)) != 0) refuse(std::strerror(errno));
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) refuse(std::strerror(errno));
  temporary_.clear();
}

void AtomicFile::refuse(const std::string& reason) const {
  throw UsageError(fmt::format("cannot write '{}': {}", path_, reason));
}

void write_file_atomically(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace lab
