#pragma once

#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

namespace lab {

/// Writes all of the text, in one write(2) unless the system takes only a part. Returns 0, or the errno of the failure.
/// A closed pipe gives EPIPE, never a signal, whatever the process does with SIGPIPE.
int write_fully(int fd, std::string_view text);

/// All bytes of a regular file.
/// Errors    UsageError: it cannot be read, or is a folder
std::string read_file(const std::string& path);

/// Creates the folder that an option names, and its parents, if it does not exist.
/// Errors    UsageError: "--out x: expected a folder that can be made or written to"
void make_folder(const std::string& option, const std::string& path);

/// A file descriptor that closes itself.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  void reset() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

/// A file that appears under its name complete or not at all: written under a temporary name next to it, renamed by
/// commit(), and removed if commit() was not reached. Symbolic links are followed. Anything that is not a regular file
/// (/dev/stdout, a named pipe) is written directly.
/// Errors    UsageError: the folder is missing or not writable, path is a folder, the disk is full; nothing is left
///           behind, and an existing file is untouched
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void refuse(const std::string& reason) const;

  const std::string path_;
  std::string target_;     ///< the path with symbolic links resolved
  std::string temporary_;  ///< empty: written directly, or committed
  int fd_ = -1;
};

/// Writes the whole text through an AtomicFile.
void write_file_atomically(const std::string& path, std::string_view text);

}  // namespace lab
