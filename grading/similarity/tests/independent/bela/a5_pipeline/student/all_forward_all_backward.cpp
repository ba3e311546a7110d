#include "a5_pipeline/all_forward_all_backward.h"

#include "a5_pipeline/pipeline_communicate.h"

namespace lab::a5 {

std::vector<at::Tensor> all_forward_all_backward(PipelineStage& stage, DataLoader& data,
                                                 const PipelineArguments& arguments, PointToPoint& p2p) {
  using Op = PipelineOperation;
  const auto count = arguments.number_of_micro_batches();
  const bool last = p2p.rank() + 1 == p2p.size();
  std::vector<std::pair<at::Tensor, at::Tensor>> kept;
  for (std::int64_t k = 0; k < count; ++k) {
    auto in = pipeline_communicate(Op::kRecvForward, p2p, arguments);
    if (!in.defined()) in = data.next().to(arguments.device).requires_grad_(true);
    auto out = stage.forward(in);
    pipeline_communicate(Op::kSendForward, p2p, arguments, out);
    kept.emplace_back(std::move(in), std::move(out));
  }
  std::vector<at::Tensor> finals;
  for (const auto& [in, out] : kept) {
    const auto from_next = pipeline_communicate(Op::kRecvBackward, p2p, arguments);
    const auto to_previous = stage.backward(in, last ? out.mean() : out, from_next);
    pipeline_communicate(Op::kSendBackward, p2p, arguments, to_previous);
    if (last) finals.push_back(out.detach());
  }
  return finals;
}

}  // namespace lab::a5
