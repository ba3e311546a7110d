#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <string>

namespace lab {

/// Gloo's own collectives, unwrapped: the peer that a benchmark compares with. Tensors are contiguous and on the CPU;
/// nothing is checked. One per process, never destroyed before the process ends with _exit.
class GlooPeer {
 public:
  /// How the kernel schedules the working threads: as for any program that uses Gloo, or as the ranks of this suite
  /// request (SCHED_BATCH, see ProcessWorld::join).
  enum class Scheduling { kUsual, kBatch };

  /// Rendezvous with the other ranks through a file store in `folder`, on the loopback interface. Gloo's own thread
  /// keeps this scheduling; the calling thread gets its previous one back.
  GlooPeer(const std::string& folder, int rank, int size, Scheduling scheduling);
  ~GlooPeer();
  GlooPeer(const GlooPeer&) = delete;
  GlooPeer& operator=(const GlooPeer&) = delete;

  void barrier();
  void broadcast(const at::Tensor& tensor, int src_rank);
  void all_reduce(const at::Tensor& tensor);
  /// out: [P*N, ...] for in: [N, ...]
  void all_gather(const at::Tensor& in, const at::Tensor& out);
  /// in and out: [P*N, ...]
  void all_to_all(const at::Tensor& in, const at::Tensor& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Sets the calling thread's scheduling while it lives.
class SchedulingScope {
 public:
  explicit SchedulingScope(GlooPeer::Scheduling scheduling);
  ~SchedulingScope();
  SchedulingScope(const SchedulingScope&) = delete;
  SchedulingScope& operator=(const SchedulingScope&) = delete;

 private:
  int policy_before_;
};

}  // namespace lab
