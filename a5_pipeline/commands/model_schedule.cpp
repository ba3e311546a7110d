#include "a5_pipeline/commands/model_schedule.h"

#include <fmt/format.h>

#include "common/base/errors.h"
#include "common/pipeline/generators.h"

namespace lab::a5 {

pipeline::Schedule model_schedule(const PipelineArguments& arguments, const std::string& kind, int num_chunks,
                                  int num_ranks) {
  pipeline::ScheduleOptions wanted;
  wanted.kind = kind;
  wanted.num_ranks = num_ranks;
  wanted.num_micro_batches = static_cast<int>(arguments.number_of_micro_batches());
  wanted.num_chunks = num_chunks == 0 ? pipeline::usual_chunks(kind) : num_chunks;
  const pipeline::Schedule schedule = pipeline::make_schedule(wanted);
  if (arguments.number_of_layers < schedule.num_stages()) {
    throw UsageError(fmt::format(
        "--number-of-layers {}: expected at least one layer for each of the {} stages ({} ranks with {} chunks each); "
        "hint: fewer ranks or chunks, or more layers",
        arguments.number_of_layers, schedule.num_stages(), num_ranks, schedule.num_chunks));
  }
  return schedule;
}

}  // namespace lab::a5
