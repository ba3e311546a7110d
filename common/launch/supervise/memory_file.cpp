#include "common/launch/supervise/memory_file.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "common/base/errors.h"

namespace lab {

MemoryFile::MemoryFile(const char* name) : fd_(::memfd_create(name, 0)) {  // without MFD_CLOEXEC: for who is started
  if (fd_.get() < 0) throw UsageError(fmt::format("cannot make a file in memory: {}", std::strerror(errno)));
}

std::string MemoryFile::path() const {
  return fmt::format("/proc/self/fd/{}", fd_.get());
}

}  // namespace lab
