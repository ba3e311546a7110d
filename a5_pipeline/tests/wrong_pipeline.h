#pragma once

#include <functional>

#include "a5_pipeline/calls/pipelined_model.h"
#include "a5_pipeline/pipeline_stage.h"

// The handout's loop with one mistake.
namespace lab::a5 {

enum class Mistake {
  kNone,
  kOutputsReversed,        ///< the last stage returns its outputs last first
  kBackwardReversed,       ///< the last stage begins its backward passes with the last micro-batch, the others do not
  kZeroGradients,          ///< the weights' gradients are cleared
  kBackwardTwice,          ///< each micro-batch goes backward through the stage twice
  kDividedByM,             ///< gradients, or as well the loss, are divided by the number of micro-batches
  kOnesForOutputGrad,      ///< the gradient from the next stage is dropped, and ones are used
  kNoGradOnFirstStage,     ///< the data is not made to require a gradient
  kDataOnEveryStage,       ///< every stage computes on the data, and drops what it receives
  kAsksAbsentLoader,       ///< a stage in the middle asks a loader that it does not have
  kFloorDivision,          ///< each stage takes layers / stages layers; the rest are dropped
  kOutputsOnEveryRank,     ///< each stage returns what it has computed
  kLastMicroBatchMissing,  ///< the loop ends one too early, on every stage
  kTwoPerMicroBatch,       ///< the number of micro-batches is half of the batch, whatever their size
  kKeepsActivations,       ///< a copy of every activation is kept next to the graph
};

/// Changes the weights of a stage before it works; may be empty.
using WeightFill = std::function<void(const Model&)>;

/// As run_handout_pipeline(), with the mistake.
PipelineResult run_wrong_pipeline(const PipelineArguments& arguments, Communicator& comm, Mistake mistake,
                                  const WeightFill& fill = {});

}  // namespace lab::a5
