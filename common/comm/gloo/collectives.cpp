#include "common/comm/gloo/collectives.h"

#include <fmt/format.h>
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/common/error.h>

#include <chrono>

namespace lab::comm {
namespace {

std::uint8_t* first_byte(const at::Tensor& tensor) {
  return static_cast<std::uint8_t*>(tensor.data_ptr());
}

/// Sums `count` elements of any dtype that LibTorch can add, bfloat16 and bool included.
void add(at::ScalarType dtype, void* out, const void* left, const void* right, std::size_t count) {
  const auto view = [&](const void* data) {
    return at::from_blob(const_cast<void*>(data), {static_cast<std::int64_t>(count)}, dtype);
  };
  at::Tensor sum = view(out);
  at::add_out(sum, view(left), view(right));
}

}  // namespace

GlooCollectives::GlooCollectives(Transport& transport, Lifeline& lifeline, Connector& connector, double timeout_seconds,
                                 RankEvents* events)
    : MessageCollectives(transport),
      lifeline_(lifeline),
      connector_(connector),
      timeout_(static_cast<std::int64_t>(timeout_seconds * 1000)),
      events_(events) {}

template <typename Operation>
void GlooCollectives::run(const char* name, const Group& group, const Operation& operation) {
  lifeline_.check();
  if (events_ != nullptr) events_->set_activity(RankActivity::kCollective, name);
  lifeline_.set_collective(name);
  GroupConnections& own = connections_[group.id];
  if (!own.context) {
    try {
      own.context = connector_.connect(fmt::format("group{}", group.id), group.rank, group.size());
    } catch (const CommError&) {
      lifeline_.check();  // may know more about a lost rank
      throw;
    }
  }
  // All members are known to have called it, so it can only be delayed by a stopped rank. Gloo's time-out closes all
  // connections of the group, so this rank cannot continue after it; it tells the others why over the lifeline's.
  const auto deadline = std::chrono::steady_clock::now() + timeout_;
  try {
    operation(own.context, own.next_tag++);
  } catch (const gloo::Exception&) {
    lifeline_.check();
    if (std::chrono::steady_clock::now() >= deadline) {
      throw lifeline_.timed_out(fmt::format("rank {} is inside {}", group.world_rank(group.rank), name));
    }
    lifeline_.connection_lost();
  }
  if (events_ != nullptr) events_->set_activity(RankActivity::kRunning, "");
  lifeline_.set_collective("");
}

void GlooCollectives::broadcast(const at::Tensor& tensor, int src_rank, const Group& group) {
  if (tensor.nbytes() == 0) return;
  run("broadcast", group, [&](const std::shared_ptr<gloo::Context>& context, std::uint32_t tag) {
    gloo::BroadcastOptions options(context);
    options.setOutput(first_byte(tensor), tensor.nbytes());
    options.setRoot(src_rank);
    options.setTag(tag);
    options.setTimeout(timeout_);
    gloo::broadcast(options);
  });
}

void GlooCollectives::all_reduce(const at::Tensor& tensor, const Group& group) {
  if (tensor.is_complex()) return all_reduce(at::view_as_real(tensor), group);
  if (tensor.nbytes() == 0) return;
  run("all_reduce", group, [&](const std::shared_ptr<gloo::Context>& context, std::uint32_t tag) {
    gloo::AllreduceOptions options(context);
    const at::ScalarType dtype = tensor.scalar_type();
    const auto count = static_cast<std::size_t>(tensor.numel());
    // Gloo only needs the element size; we do the sum.
    switch (tensor.element_size()) {
      case 1: options.setOutput(static_cast<std::uint8_t*>(tensor.data_ptr()), count); break;
      case 2: options.setOutput(static_cast<std::uint16_t*>(tensor.data_ptr()), count); break;
      case 4: options.setOutput(static_cast<std::uint32_t*>(tensor.data_ptr()), count); break;
      default: options.setOutput(static_cast<std::uint64_t*>(tensor.data_ptr()), count); break;
    }
    options.setReduceFunction(
        [dtype](void* out, const void* left, const void* right, std::size_t n) { add(dtype, out, left, right, n); });
    options.setTag(tag);
    options.setTimeout(timeout_);
    gloo::allreduce(options);
  });
}

void GlooCollectives::all_gather(const at::Tensor& in, const at::Tensor& out, const Group& group) {
  if (in.nbytes() == 0) return;
  run("all_gather", group, [&](const std::shared_ptr<gloo::Context>& context, std::uint32_t tag) {
    gloo::AllgatherOptions options(context);
    options.setInput(first_byte(in), in.nbytes());
    options.setOutput(first_byte(out), out.nbytes());
    options.setTag(tag);
    options.setTimeout(timeout_);
    gloo::allgather(options);
  });
}

void GlooCollectives::barrier(const Group& group) {
  run("barrier", group, [&](const std::shared_ptr<gloo::Context>& context, std::uint32_t tag) {
    gloo::BarrierOptions options(context);
    options.setTag(tag);
    options.setTimeout(timeout_);
    gloo::barrier(options);
  });
}

}  // namespace lab::comm
