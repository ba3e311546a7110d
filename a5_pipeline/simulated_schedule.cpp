#include "a5_pipeline/simulated_schedule.h"

#include "a5_pipeline/measured_timeline.h"
#include "common/launch/run_ranks.h"
#include "common/pipeline/simulated_stage.h"
#include "common/report/errors.h"

namespace lab::a5 {
namespace {

using pipeline::Schedule;
using pipeline::Timeline;

constexpr double kForever = 1e9;  // simulated seconds

}  // namespace

Timeline simulate(const Schedule& schedule, const pipeline::Costs& costs, const SimNetwork& network) {
  Timeline timeline = make_timeline(schedule, costs);  // refuses what would hang
  WorldSpec spec;
  spec.kind = WorldKind::kSim;
  spec.num_ranks = schedule.num_ranks;
  spec.timeout_seconds = kForever;
  spec.traced = true;
  spec.network = network;
  const WorldOutcome outcome = run_ranks(spec, [&](Communicator& comm) {
    const at::Tensor activation = at::empty({costs.message_bytes}, at::TensorOptions(at::kMeta).dtype(at::kByte));
    pipeline::SimulatedStage work(schedule, costs, comm.endpoint(), activation);
    run_schedule(schedule, comm.point_to_point(), work,
                 pipeline::same_buffers(activation.sizes(), activation.options()));
    return TensorMap{};
  });
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->sentence);
  std::vector<TraceEvent> events;
  for (const RankOutcome& rank : outcome.ranks) events.insert(events.end(), rank.trace.begin(), rank.trace.end());
  Timeline simulated = measured_timeline(schedule, events);
  simulated.peak_live_activations = timeline.peak_live_activations;
  simulated.links = timeline.links;
  return simulated;
}

}  // namespace lab::a5
