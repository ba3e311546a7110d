#pragma once

#include <string>

#include "common/base/files.h"

namespace lab {

/// A file in memory that this process shares with the processes it starts. It has no name in any folder, so nothing is
/// left of it when they are gone, however they ended.
/// Errors    UsageError: the system refuses it
class MemoryFile {
 public:
  explicit MemoryFile(const char* name);

  int fd() const { return fd_.get(); }
  /// Opens it anew, in this process and in any that it starts.
  std::string path() const;

 private:
  UniqueFd fd_;
};

}  // namespace lab
