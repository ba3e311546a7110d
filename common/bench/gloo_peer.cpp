#include "common/bench/gloo_peer.h"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <sched.h>

#include "common/bench/raw_gloo.h"

namespace lab {

struct GlooPeer::Impl {
  std::shared_ptr<gloo::rendezvous::Context> context;
  std::uint32_t tag = 0;

  template <typename Options>
  Options options() {
    Options options(context);
    options.setTag(tag++);
    return options;
  }
};

SchedulingScope::SchedulingScope(GlooPeer::Scheduling scheduling) : policy_before_(sched_getscheduler(0)) {
  const sched_param no_priority{};
  sched_setscheduler(0, scheduling == GlooPeer::Scheduling::kBatch ? SCHED_BATCH : SCHED_OTHER, &no_priority);
}

SchedulingScope::~SchedulingScope() {
  const sched_param no_priority{};
  sched_setscheduler(0, policy_before_, &no_priority);
}

GlooPeer::GlooPeer(const std::string& folder, int rank, int size, Scheduling scheduling)
    : impl_(std::make_unique<Impl>()) {
  const SchedulingScope scope(scheduling);  // Gloo's thread inherits it
  impl_->context = raw_gloo(folder + (scheduling == Scheduling::kBatch ? "/batch" : "/usual"), rank, size);
}

GlooPeer::~GlooPeer() = default;

void GlooPeer::barrier() {
  auto options = impl_->options<gloo::BarrierOptions>();
  gloo::barrier(options);
}

void GlooPeer::broadcast(const at::Tensor& tensor, int src_rank) {
  auto options = impl_->options<gloo::BroadcastOptions>();
  options.setOutput(static_cast<std::uint8_t*>(tensor.data_ptr()), tensor.nbytes());
  options.setRoot(src_rank);
  gloo::broadcast(options);
}

void GlooPeer::all_reduce(const at::Tensor& tensor) {
  auto options = impl_->options<gloo::AllreduceOptions>();
  options.setOutput(tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel()));
  // LibTorch's addition: vectorised, which Gloo's own is not at this project's optimisation level.
  options.setReduceFunction([](void* out, const void* left, const void* right, std::size_t count) {
    const auto view = [count](const void* data) {
      return at::from_blob(const_cast<void*>(data), {static_cast<std::int64_t>(count)}, at::kFloat);
    };
    at::Tensor sum = view(out);
    at::add_out(sum, view(left), view(right));
  });
  gloo::allreduce(options);
}

void GlooPeer::all_gather(const at::Tensor& in, const at::Tensor& out) {
  auto options = impl_->options<gloo::AllgatherOptions>();
  options.setInput(static_cast<std::uint8_t*>(in.data_ptr()), in.nbytes());
  options.setOutput(static_cast<std::uint8_t*>(out.data_ptr()), out.nbytes());
  gloo::allgather(options);
}

void GlooPeer::all_to_all(const at::Tensor& in, const at::Tensor& out) {
  auto options = impl_->options<gloo::AlltoallOptions>();
  options.setInput(static_cast<std::uint8_t*>(in.data_ptr()), in.nbytes());
  options.setOutput(static_cast<std::uint8_t*>(out.data_ptr()), out.nbytes());
  gloo::alltoall(options);
}

}  // namespace lab
