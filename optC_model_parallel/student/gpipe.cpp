#include "optC_model_parallel/gpipe.h"

#include <optional>
#include <utility>

namespace lab::optc {

void gpipe(pipeline::StageWork& work, PointToPoint& p2p, int num_micro_batches, const pipeline::Buffers& buffers) {
  // BEGIN SOLUTION optC.gpipe
  // STUB // TODO(optC.gpipe): for each micro-batch: its input from the rank before (none on the first stage), forward,
  // STUB // the output to the next rank (the last one keeps it). Then the same the other way, with gradients. A message
  // STUB // that is posted before a computation travels during it.
  // STUB not_implemented("optC.gpipe", work, p2p, num_micro_batches, buffers);
  const int stage = p2p.rank();
  // Forward and backward are one thing in two directions: what comes from rank src is computed on and goes to dst;
  // either may lie beyond the pipeline's ends.
  const auto pass = [&](int src, int dst, int buffer_stage, const auto& compute) {
    const auto receive = [&](int i) -> std::optional<Request> {
      if (src < 0 || src == p2p.size() || i == num_micro_batches) return std::nullopt;
      return p2p.irecv(buffers(buffer_stage, i), src, i);
    };
    std::optional<Request> arriving = receive(0), leaving;
    for (int i = 0; i < num_micro_batches; ++i) {
      const at::Tensor received = arriving ? arriving->wait() : at::Tensor();
      arriving = receive(i + 1);
      const at::Tensor computed = compute(i, received);
      if (leaving) leaving->wait();  // one at a time: outputs that nobody has taken yet would pile up
      if (dst >= 0 && dst < p2p.size()) leaving = p2p.isend(computed, dst, i);
    }
    if (leaving) leaving->wait();
  };
  pass(stage - 1, stage + 1, stage, [&](int i, const at::Tensor& input) { return work.forward(0, i, input); });
  pass(stage + 1, stage - 1, stage + 1, [&](int i, const at::Tensor& grad) { return work.backward(0, i, grad); });
  // END SOLUTION optC.gpipe
}

}  // namespace lab::optc
