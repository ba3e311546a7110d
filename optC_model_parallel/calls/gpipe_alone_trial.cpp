#include "optC_model_parallel/calls/case_inputs.h"
#include "optC_model_parallel/calls/pass_trial.h"

namespace lab::optc {
namespace {

/// The shape of what stage - 1 sends to `stage`, and of what comes back; the third micro-batch has no images.
std::vector<std::int64_t> alone_shape(int stage, int micro_batch) {
  return {(micro_batch + 1) % 3, stage + 1, 2};
}

std::int64_t alone_value(int stage, int micro_batch, bool forward) {
  return (stage * 1000 + micro_batch) * 2 + (forward ? 1 : 0);
}

at::Tensor alone_tensor(int stage, int micro_batch, bool forward) {
  return at::full(alone_shape(stage, micro_batch), alone_value(stage, micro_batch, forward), at::kLong);
}

/// Counts wrong inputs, and calls that come too early.
class LookingStage : public pipeline::StageWork {
 public:
  LookingStage(int stage, int num_stages, std::int64_t num_micro_batches)
      : stage_(stage), last_(stage == num_stages - 1), num_micro_batches_(num_micro_batches) {}

  at::Tensor forward(int, int micro_batch, const at::Tensor& input) override {
    num_wrong +=
        input.defined() != (stage_ > 0) || (input.defined() && !input.equal(alone_tensor(stage_, micro_batch, true)));
    ++num_forward;
    return last_ ? at::zeros({}, at::kLong) : alone_tensor(stage_ + 1, micro_batch, true);
  }

  at::Tensor backward(int, int micro_batch, const at::Tensor& output_grad) override {
    num_wrong += output_grad.defined() == last_ ||
                 (output_grad.defined() && !output_grad.equal(alone_tensor(stage_ + 1, micro_batch, false)));
    num_early += num_forward < num_micro_batches_;
    ++num_backward;
    return stage_ == 0 ? at::Tensor() : alone_tensor(stage_, micro_batch, false);
  }

  at::Tensor backward_input(int, int, const at::Tensor&) override { return {}; }
  void backward_weight(int, int) override {}

  std::int64_t num_wrong = 0, num_early = 0, num_forward = 0, num_backward = 0;

 private:
  const int stage_;
  const bool last_;
  const std::int64_t num_micro_batches_;
};

}  // namespace

TensorMap gpipe_alone_trial(Communicator& comm, const CaseInputs& inputs, const GpipeFunction& gpipe) {
  const std::int64_t num_micro_batches = inputs.integer("num_micro_batches");
  LookingStage stage(comm.rank(), comm.size(), num_micro_batches);
  gpipe(stage, comm.point_to_point(), static_cast<int>(num_micro_batches),
        [](int fed_stage, int micro_batch) { return at::empty(alone_shape(fed_stage, micro_batch), at::kLong); });
  return {{"num_wrong_inputs", count_of(stage.num_wrong)},
          {"num_backward_before_the_last_forward", count_of(stage.num_early)},
          {"num_forward", count_of(stage.num_forward)},
          {"num_backward", count_of(stage.num_backward)}};
}

}  // namespace lab::optc
