#include "common/comm/shm/segment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/api/errors.h"

namespace lab::comm {
namespace {

std::size_t view_bytes(int num_members) {
  const auto members = static_cast<std::size_t>(num_members);
  return members * sizeof(Doorbell) + members * members * sizeof(ShmRing);
}

}  // namespace

std::unique_ptr<ShmSegment> ShmSegment::create(int num_members) {
  const int descriptor = ::memfd_create("lab-ranks", MFD_CLOEXEC);
  // All zeros: empty rings and doorbells.
  if (descriptor < 0 || ::ftruncate(descriptor, static_cast<off_t>(view_bytes(num_members))) != 0) {
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    throw UsageError(fmt::format("cannot share memory between ranks: memfd_create: {}", std::strerror(error)));
  }
  auto segment = map(descriptor, num_members);
  if (!segment) throw UsageError(fmt::format("cannot share memory between ranks: mmap: {}", std::strerror(errno)));
  return segment;
}

std::unique_ptr<ShmSegment> ShmSegment::open(long process, int descriptor, int num_members) {
  const int own = ::open(fmt::format("/proc/{}/fd/{}", process, descriptor).c_str(), O_RDWR | O_CLOEXEC);
  return own < 0 ? nullptr : map(own, num_members);
}

std::unique_ptr<ShmSegment> ShmSegment::map(int descriptor, int num_members) {
  void* const memory = ::mmap(nullptr, view_bytes(num_members), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory != MAP_FAILED) return std::unique_ptr<ShmSegment>(new ShmSegment(descriptor, num_members, memory));
  ::close(descriptor);
  return nullptr;
}

ShmSegment::~ShmSegment() {
  ::munmap(memory_, view_bytes(num_members_));
  ::close(descriptor_);
}

Doorbell& ShmSegment::doorbell(int member) {
  return static_cast<Doorbell*>(memory_)[member];
}

ShmRing& ShmSegment::ring(int from, int to) {
  char* const rings = static_cast<char*>(memory_) + static_cast<std::size_t>(num_members_) * sizeof(Doorbell);
  return reinterpret_cast<ShmRing*>(rings)[from * num_members_ + to];
}

}  // namespace lab::comm
