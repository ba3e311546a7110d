#include <fmt/format.h>

#include "optC_model_parallel/calls/case_inputs.h"
#include "optC_model_parallel/calls/pass_trial.h"
#include "optC_model_parallel/gpipe.h"

namespace lab::optc {
namespace {

/// A stage that computes nothing: it returns what the case's inputs say, and keeps what it is given.
class KeepingStage : public pipeline::StageWork {
 public:
  KeepingStage(const CaseInputs& inputs, bool is_first, bool is_last, std::int64_t num_micro_batches)
      : inputs_(inputs),
        is_first_(is_first),
        is_last_(is_last),
        num_forward_before_(at::zeros({num_micro_batches}, at::kLong)) {
    for (std::int64_t micro_batch = 0; micro_batch < num_micro_batches; ++micro_batch) {
      if (!is_first) given_[fmt::format("input{}", micro_batch)] = at::Tensor();
      if (!is_last) given_[fmt::format("output_grad{}", micro_batch)] = at::Tensor();
    }
  }

  at::Tensor forward(int, int micro_batch, const at::Tensor& input) override {
    ++num_forward_;
    num_inputs_ += keep(fmt::format("input{}", micro_batch), input);
    return is_last_ ? at::zeros({}, at::kLong) : inputs_.tensor(fmt::format("input.output{}", micro_batch));
  }

  at::Tensor backward(int, int micro_batch, const at::Tensor& output_grad) override {
    ++num_backward_;
    num_forward_before_[micro_batch] = num_forward_;
    num_output_grads_ += keep(fmt::format("output_grad{}", micro_batch), output_grad);
    return is_first_ ? at::Tensor() : inputs_.tensor(fmt::format("input.input_grad{}", micro_batch));
  }

  at::Tensor backward_input(int, int, const at::Tensor&) override { return {}; }
  void backward_weight(int, int) override {}

  TensorMap results() const {
    TensorMap all = given_;
    all["num_forward"] = make_count(num_forward_);
    all["num_backward"] = make_count(num_backward_);
    all["num_inputs"] = make_count(num_inputs_);
    all["num_output_grads"] = make_count(num_output_grads_);
    all["num_forward_before_backward"] = num_forward_before_;
    return all;
  }

 private:
  bool keep(const std::string& name, const at::Tensor& tensor) {
    const auto found = given_.find(name);
    if (tensor.defined() && found != given_.end()) found->second = tensor.clone();
    return tensor.defined();
  }

  const CaseInputs& inputs_;
  const bool is_first_, is_last_;
  TensorMap given_;                ///< undefined: nothing was given
  at::Tensor num_forward_before_;  ///< by micro-batch
  std::int64_t num_forward_ = 0, num_backward_ = 0, num_inputs_ = 0, num_output_grads_ = 0;
};

}  // namespace

std::vector<std::int64_t> alone_shape(int stage, int micro_batch) {
  return {(micro_batch + 1) % 3, stage + 1, 2};
}

TensorMap gpipe_alone_trial(Communicator& comm, const CaseInputs& inputs) {
  const std::int64_t num_micro_batches = inputs.integer("num_micro_batches");
  KeepingStage stage(inputs, comm.rank() == 0, comm.rank() == comm.size() - 1, num_micro_batches);
  gpipe(stage, comm.point_to_point(), static_cast<int>(num_micro_batches),
        [](int fed_stage, int micro_batch) { return at::empty(alone_shape(fed_stage, micro_batch), at::kLong); });
  return stage.results();
}

}  // namespace lab::optc
