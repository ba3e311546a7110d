#include "common/launch/supervise/memory_file.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "common/base/errors.h"

namespace lab {

MemoryFile::MemoryFile(const char* name) : fd_(::memfd_create(name, 0)) {  // inherited: no MFD_CLOEXEC
  if (fd_.get() < 0) throw UsageError(fmt::format("cannot create an in-memory file: {}", std::strerror(errno)));
}

std::string MemoryFile::path() const {
  return fmt::format("/proc/self/fd/{}", fd_.get());
}

}  // namespace lab
