#pragma once

#include <string>
#include <string_view>

namespace lab {

/// A file that appears under its name complete or not at all: written under a temporary name beside it, renamed by
/// commit(), and removed if commit() was not reached. A link is followed. What is not a regular file (/dev/stdout, a
/// named pipe) is written to directly.
/// Errors    UsageError: the folder is missing or not writable, path is a folder, the disk is full; nothing is left
///           behind, and what stood under the name is untouched
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
  std::string target_;     ///< the path with links followed
  std::string temporary_;  ///< empty: written to directly, or committed
  int fd_ = -1;
};

/// The whole text at once, by an AtomicFile.
void write_file_atomically(const std::string& path, std::string_view text);

}  // namespace lab
