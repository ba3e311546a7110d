#include "common/tensor/files/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/api/errors.h"

namespace lab {
namespace {

struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  const int number;
};

[[noreturn]] void fail(const std::string& path, const char* reason) {
  throw UsageError(fmt::format("Cannot read '{}': {}.", path, reason));
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  // Not blocking: opening a named pipe would otherwise wait for its writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (file.number < 0 || ::fstat(file.number, &status) != 0) fail(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) fail(path, "it is not a regular file");
  if (status.st_size == 0) return;
  size_bytes_ = static_cast<uint64_t>(status.st_size);
  void* mapping = ::mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.number, 0);
  if (mapping == MAP_FAILED) fail(path, std::strerror(errno));
  data_ = static_cast<char*>(mapping);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_bytes_);
}

}  // namespace lab
