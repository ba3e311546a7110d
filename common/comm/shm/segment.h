#pragma once

#include <memory>
#include <vector>

#include "common/comm/shm/doorbell.h"
#include "common/comm/shm/ring.h"

namespace lab::comm {

/// Memory that the processes of one host have mapped: a doorbell for each, and a ring from each to each. It has no name
/// in any file system: whoever makes it tells the others its process and descriptor, and it is gone with the last of
/// them.
class ShmSegment {
 public:
  /// `num_members`: the most processes that will use it; pages that are never written take no memory.
  /// Errors    UsageError: the kernel makes no such file
  static std::unique_ptr<ShmSegment> create(int num_members);
  /// Maps one that another process made. Null: that is not permitted, or the process is gone.
  static std::unique_ptr<ShmSegment> open(long process, int descriptor, int num_members);
  ~ShmSegment();
  ShmSegment(const ShmSegment&) = delete;
  ShmSegment& operator=(const ShmSegment&) = delete;

  int descriptor() const { return descriptor_; }
  Doorbell& doorbell(int member);
  ShmRing& ring(int from, int to);

 private:
  ShmSegment(int descriptor, int num_members, void* memory)
      : descriptor_(descriptor), num_members_(num_members), memory_(memory) {}
  static std::unique_ptr<ShmSegment> map(int descriptor, int num_members);

  int descriptor_;
  int num_members_;
  void* memory_;
};

}  // namespace lab::comm
