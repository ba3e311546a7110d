#include "a5_pipeline/tests/wrong_pipeline.h"

#include <algorithm>

#include "a5_pipeline/data_loader.h"
#include "a5_pipeline/pipeline_communicate.h"

namespace lab::a5 {
namespace {

std::vector<std::int64_t> layers_of(const PipelineArguments& arguments, const Communicator& comm, Mistake mistake) {
  if (mistake != Mistake::kFloorDivision)
    return distribute_layers(arguments.number_of_layers, comm.rank(), comm.size());
  const std::int64_t count = arguments.number_of_layers / comm.size();
  std::vector<std::int64_t> layers;
  for (std::int64_t i = 0; i < count; ++i) layers.push_back(comm.rank() * count + i);
  return layers;
}

/// The loop of one stage, written as in the reference.
class WrongLoop {
 public:
  WrongLoop(const PipelineArguments& arguments, PointToPoint& p2p, PipelineStage& stage, Mistake mistake)
      : arguments_(arguments),
        p2p_(p2p),
        stage_(stage),
        mistake_(mistake),
        first_(p2p.rank() == 0),
        last_(p2p.rank() == p2p.size() - 1),
        data_(first_ || is(Mistake::kDataOnEveryStage) ? DataLoader(arguments) : DataLoader::none(arguments)) {}

  std::vector<at::Tensor> run() {
    const std::int64_t m = is(Mistake::kTwoPerMicroBatch)
                               ? arguments_.global_batch_size / 2
                               : arguments_.number_of_micro_batches() - (is(Mistake::kLastMicroBatchMissing) ? 1 : 0);
    for (std::int64_t i = 0; i < m; ++i) forward();
    for (std::int64_t i = 0; i < m; ++i)
      backward(static_cast<std::size_t>(last_ && is(Mistake::kBackwardReversed) ? m - 1 - i : i));
    return results_;
  }

 private:
  bool is(Mistake mistake) const { return mistake_ == mistake; }

  void forward() {
    at::Tensor input = pipeline_communicate(PipelineOperation::kRecvForward, p2p_, arguments_);
    if (first_ || is(Mistake::kDataOnEveryStage) || is(Mistake::kAsksAbsentLoader))
      input = data_.next().requires_grad_(!is(Mistake::kNoGradOnFirstStage));
    const at::Tensor output = is(Mistake::kKeepsActivations) ? forward_and_keep(input) : stage_.forward(input);
    pipeline_communicate(PipelineOperation::kSendForward, p2p_, arguments_, output);
    if (last_ || is(Mistake::kOutputsOnEveryRank)) results_.push_back(output.detach());
    inputs_.push_back(input);
    outputs_.push_back(output);
  }

  at::Tensor forward_and_keep(const at::Tensor& input) {
    const auto linear = [&](const at::Tensor& x, const at::Tensor& weight) {
      kept_.push_back(x.detach().clone());
      return at::linear(x, weight);
    };
    return stage_.model().forward_with(linear, input);
  }

  void backward(std::size_t i) {
    at::Tensor output_grad = pipeline_communicate(PipelineOperation::kRecvBackward, p2p_, arguments_);
    const at::Tensor target = last_ ? outputs_[i].mean() : outputs_[i];
    if (is(Mistake::kOnesForOutputGrad)) output_grad = at::Tensor();
    if (is(Mistake::kBackwardTwice)) target.backward(output_grad, /*retain_graph=*/true);
    const at::Tensor input_grad = stage_.backward(inputs_[i], target, output_grad);
    pipeline_communicate(PipelineOperation::kSendBackward, p2p_, arguments_, input_grad);
  }

  const PipelineArguments& arguments_;
  PointToPoint& p2p_;
  PipelineStage& stage_;
  const Mistake mistake_;
  const bool first_, last_;
  DataLoader data_;
  std::vector<at::Tensor> inputs_, outputs_, results_, kept_;
};

}  // namespace

PipelineResult run_wrong_pipeline(const PipelineArguments& arguments, Communicator& comm, Mistake mistake,
                                  const WeightFill& fill) {
  PipelineStage stage(arguments, layers_of(arguments, comm, mistake));
  if (fill) fill(stage.model());
  PipelineResult result;
  result.outputs = WrongLoop(arguments, comm.point_to_point(), stage, mistake).run();
  if (mistake == Mistake::kOutputsReversed) std::reverse(result.outputs.begin(), result.outputs.end());
  result.gradients = stage.model().gradients();
  for (const auto& [name, gradient] : result.gradients) {
    if (mistake == Mistake::kZeroGradients) gradient.zero_();
    if (mistake == Mistake::kDividedByM) gradient.div_(arguments.number_of_micro_batches());
  }
  return result;
}

}  // namespace lab::a5
