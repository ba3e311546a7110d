#pragma once

#include <string>
#include <vector>

#include "a5_pipeline/arguments.h"
#include "common/comm/sim/network.h"
#include "common/comm/trace/trace.h"
#include "common/pipeline/schedule.h"
#include "common/pipeline/timeline.h"

// A model's schedule, and what time it takes: in a run, and on a simulated network.
namespace lab::a5 {

/// The schedule that takes this model's micro-batches through `num_ranks` ranks with `num_chunks` chunks of layers
/// each; 0 chunks: the kind's usual number.
/// Errors    UsageError: a stage would have no layer; those of pipeline::make_schedule()
pipeline::Schedule model_schedule(const PipelineArguments& arguments, const std::string& kind, int num_chunks,
                                  int num_ranks);

/// A traced run of the schedule as a timeline that begins with its first computation: computations are identified by
/// their names ("F3"), messages by their tags. Other events of the trace are ignored. Live activations and traffic are
/// not filled in.
pipeline::Timeline measured_timeline(const pipeline::Schedule& schedule, const std::vector<comm::TraceEvent>& trace);

/// Runs the schedule on a simulated network, message by message, and returns its timeline there: unlike the
/// cost model, messages that share a link share its bandwidth. Peaks and traffic are the cost model's.
/// Errors    as make_timeline(); UsageError: invalid network, or this build has no SimGrid
pipeline::Timeline simulate(const pipeline::Schedule& schedule, const pipeline::Costs& costs,
                            const comm::SimNetwork& network);

}  // namespace lab::a5
