#include <utility>

#include "optC_model_parallel/model/parallel/parallel_strategies.h"
#include "optC_model_parallel/model/training/whole_model.h"
#include "optC_model_parallel/models.h"
#include "optC_model_parallel/parallel_layers.h"

namespace lab::optc {

std::unique_ptr<Strategy> tensor_parallel(const TrainingOptions& options, Communicator& comm) {
  check_tensor(options, comm.size());
  // Every rank draws the whole model, as the single process does, and keeps its shards. All ranks then take whole
  // batches: what is not split is computed on all of them, with the same bits.
  ModelSpec model = model_named(options.model, parallel_blocks(comm.collectives()));
  const Parameters whole = first_parameters(model, options.seed, options.tensors());
  Parameters shards = shard_of(model, whole, comm.rank(), comm.size());
  return whole_batches(options, Learner(std::move(model), std::move(shards), options.optimizer));
}

}  // namespace lab::optc
