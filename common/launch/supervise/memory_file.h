#pragma once

#include <string>

#include "common/base/files.h"

namespace lab::launch {

/// An in-memory file that this process shares with the processes it starts: those that it forks and, without
/// MFD_CLOEXEC, programs. It has no name in any folder, so nothing is
/// left of it when they are gone, however they ended.
/// Errors    UsageError: it cannot be created
class MemoryFile {
 public:
  explicit MemoryFile(const char* name, unsigned flags = 0);

  int fd() const { return fd_.get(); }
  /// A path that opens it again, in this process and in any that it starts.
  std::string path() const;

 private:
  UniqueFd fd_;
};

/// All bytes of such a file, whatever its position.
std::string view_bytes(int fd);

}  // namespace lab::launch
