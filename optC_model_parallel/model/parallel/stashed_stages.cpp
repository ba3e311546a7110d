#include "optC_model_parallel/model/parallel/stashed_stages.h"
#include "common/comm/messages/endpoint_of.h"

#include <utility>

namespace lab::optc {

StashedStage::StashedStage(const StagePlan& plan, Learner& newest, VersionRule version_of, const MicroBatchData& data,
                           const OnLoss& on_loss, Communicator& comm)
    : numbers_(plan.numbers()),
      stage_(plan, comm.rank()),
      newest_(newest),
      version_of_(std::move(version_of)),
      data_(data),
      on_loss_(on_loss),
      endpoint_(endpoint_of(comm)),
      versions_(copy_of(newest.parameters())),
      live_(/*recompute=*/false) {}

at::Tensor StashedStage::forward(int chunk, int micro_batch, const at::Tensor& input) {
  const std::string name = short_name(numbers_, {pipeline::Operation::kForward, micro_batch, chunk});
  at::Tensor output = traced(endpoint_, name, micro_batch, [&] {
    const Parameters& weights = versions_.start(micro_batch, version_of_(micro_batch));
    return live_.forward(micro_batch, stage_.input(input), stage_.training(weights, data_, micro_batch));
  });
  if (stage_.is_last()) {
    loss_ += output.item<double>();
    if (ends_batch(micro_batch)) on_loss_(std::exchange(loss_, 0));
  }
  return output;
}

at::Tensor StashedStage::backward(int chunk, int micro_batch, const at::Tensor& output_grad) {
  const std::string name = short_name(numbers_, {pipeline::Operation::kBackward, micro_batch, chunk});
  return traced(endpoint_, name, micro_batch, [&] {
    at::Tensor input_grad = live_.backward(micro_batch, output_grad);
    if (ends_batch(micro_batch)) {
      update(versions_.of(micro_batch));
      versions_.finish(micro_batch);  // before the next version is added: one fewer is held at a time
      versions_.add(copy_of(newest_.parameters()));
    } else {
      versions_.finish(micro_batch);
    }
    return input_grad;
  });
}

void StashedStage::update(const Parameters& version) {
  const Tensors used = learning(stage_.layers(), version), newest = learning(stage_.layers(), newest_.parameters());
  for (std::size_t i = 0; i < used.size(); ++i)
    newest[i].mutable_grad() = std::exchange(used[i].mutable_grad(), at::Tensor());
  newest_.step();
}

}  // namespace lab::optc
