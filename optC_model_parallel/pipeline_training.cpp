#include "optC_model_parallel/pipeline_training.h"

#include <utility>

#include "optC_model_parallel/batched_logits.h"

namespace lab::optc {

PipelineTraining::PipelineTraining(StagePlan plan, const TrainingOptions& options, Communicator& comm)
    : plan_(std::move(plan)),
      dtype_(options.dtype),
      comm_(comm),
      learner_(layers_of_rank(plan_, comm.rank()),
               first_parameters(layers_of_rank(plan_, comm.rank()), options.seed, options.dtype), options.optimizer) {}

at::Tensor PipelineTraining::logits(const Images& images, const OnBatch& on_batch) {
  return batched_logits(
      images, dtype_, [this](const at::Tensor& x) { return answers_of(x); }, on_batch);
}

at::Tensor PipelineTraining::answers_of(const at::Tensor& images) const {
  PointToPoint& p2p = comm_.point_to_point();
  const int p = p2p.size();
  const std::vector<Parameters> weights = by_chunk(plan_, p2p.rank(), learner_.parameters());
  at::Tensor x = images;
  for (int chunk = 0; chunk < plan_.num_chunks(); ++chunk) {
    const int stage = plan_.numbers().stage_of(p2p.rank(), chunk);
    if (stage > 0 && p > 1) {
      std::vector<std::int64_t> shape = plan_.out_shape(stage - 1);
      shape.insert(shape.begin(), images.size(0));
      x = at::empty(shape, images.options());
      p2p.recv(x, (p2p.rank() + p - 1) % p, stage);
    }
    x = run_layers(plan_.layers(stage), weights[static_cast<std::size_t>(chunk)], x, Mode::kEvaluation);
    if (stage < plan_.num_stages() - 1 && p > 1) p2p.send(x, (p2p.rank() + 1) % p, stage + 1);
  }
  return is_last_rank() ? x : at::Tensor();
}

}  // namespace lab::optc
