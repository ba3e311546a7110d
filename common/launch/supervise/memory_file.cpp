#include "common/launch/supervise/memory_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/api/errors.h"

namespace lab::launch {

MemoryFile::MemoryFile(const char* name, unsigned flags) : fd_(::memfd_create(name, flags)) {
  if (fd_.get() < 0) throw UsageError(fmt::format("cannot create an in-memory file: {}", std::strerror(errno)));
}

std::string MemoryFile::path() const {
  return fmt::format("/proc/self/fd/{}", fd_.get());
}

std::string view_bytes(int fd) {
  std::string bytes;
  const off_t size = ::lseek(fd, 0, SEEK_END);
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got = ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (got <= 0) return "";
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace lab::launch
