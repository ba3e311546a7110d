#include "common/base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "common/base/errors.h"
#include "common/base/write_fully.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

/// In the same folder, because a rename is only a rename within one file system; no two writers share a name.
int open_beside(const std::string& target, std::string& temporary) {
  for (int attempt = 0;; ++attempt) {
    temporary = fmt::format("{}.{}.{}.tmp", target, ::getpid(), attempt);
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
}

}  // namespace

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
  // Closed first: a full disk or a quota may only show then.
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
