#pragma once

#include <cstdint>
#include <vector>

#include "common/api/partition.h"
#include "common/pipeline/schedule.h"
#include "optC_model_parallel/model/model.h"

namespace lab::optc {

/// A model split into stages, and which rank has which: chunk c of rank r is stage c * num_ranks + r.
struct StagePlan {
  ModelSpec model;
  std::vector<Slice> stages;  ///< the layers of each
  int num_ranks = 1;

  int num_stages() const { return static_cast<int>(stages.size()); }
  int num_chunks() const { return num_stages() / num_ranks; }
  ModelSpec layers(int stage) const { return take_part(model, stages[static_cast<std::size_t>(stage)]); }
  /// The shape of the stage's output for one image.
  const std::vector<std::int64_t>& out_shape(int stage) const;
  /// A schedule without actions: which rank has which stage, and the names of computations.
  pipeline::Schedule numbers() const { return {"", num_ranks, 1, num_chunks(), {}}; }
};

/// Stages as equal as possible by the layers' multiply-adds (split_layers).
/// Errors    ContractError: more stages than layers; split_layers() returns stages with gaps, or too many or too few
StagePlan balanced_plan(const ModelSpec& model, int num_ranks, int num_chunks);

/// All layers that the rank has, chunk after chunk.
ModelSpec layers_of_rank(const StagePlan& plan, int rank);

/// The tensors of these layers, by chunk.
/// Aliasing  the same tensors
std::vector<Parameters> by_chunk(const StagePlan& plan, int rank, const Parameters& of_rank);

}  // namespace lab::optc
