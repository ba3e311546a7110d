#include "a5_pipeline/commands/schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "common/api/errors.h"
#include "common/comm/messages/get_endpoint.h"
#include "common/comm/trace/trace.h"
#include "common/launch/run_ranks.h"
#include "common/pipeline/generators.h"
#include "common/pipeline/simulated_stage.h"

namespace lab::a5 {
namespace {

constexpr double kForever = 1e9;  // simulated seconds

using pipeline::Action;
using pipeline::Schedule;
using pipeline::Span;
using pipeline::Timeline;

/// The names of the schedule's actions in a trace.
struct Names {
  explicit Names(const Schedule& schedule) {
    for (int rank = 0; rank < schedule.num_ranks; ++rank) {
      for (const Action& action : schedule.ranks[static_cast<std::size_t>(rank)]) {
        if (!is_message(action.operation)) {
          computations[{rank, short_name(schedule, action)}] = action;
        } else if (is_send(action.operation)) {
          const Action whole{action.operation, action.micro_batch, action.chunk};
          sends[{rank, message_tag(schedule, rank, action)}] = whole;
        }
      }
    }
  }

  std::map<std::pair<int, std::string>, Action> computations;
  std::map<std::pair<int, int>, Action> sends;  ///< by sender and tag
};

/// The messages of which the trace holds both ends: from when both were posted to when the receiver had it.
std::vector<Span> list_messages(const Names& names, const std::vector<comm::TraceEvent>& trace) {
  std::vector<Span> spans;
  for (const comm::MessageEnds& ends : comm::message_ends(trace)) {
    if (ends.sent == nullptr || ends.received == nullptr) continue;
    const auto action = names.sends.find({ends.src_rank(), ends.sent->tag});
    if (action == names.sends.end()) continue;
    spans.push_back({ends.src_rank(), action->second, ends.start_seconds(), ends.arrived_seconds()});
  }
  return spans;
}

}  // namespace

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

Timeline measured_timeline(const Schedule& schedule, const std::vector<comm::TraceEvent>& trace) {
  const Names names(schedule);
  Timeline timeline;
  timeline.busy_seconds.resize(static_cast<std::size_t>(schedule.num_ranks));
  double origin = std::numeric_limits<double>::infinity(), end = 0;
  for (const comm::TraceEvent& event : trace) {
    const auto action = names.computations.find({event.rank, event.operation});
    if (event.kind != comm::TraceKind::kComputation || action == names.computations.end()) continue;
    origin = std::min(origin, event.start_seconds);
    end = std::max(end, event.end_seconds);
    timeline.busy_seconds[static_cast<std::size_t>(event.rank)] += event.end_seconds - event.start_seconds;
    timeline.computations.push_back({event.rank, action->second, event.start_seconds, event.end_seconds});
  }
  timeline.messages = list_messages(names, trace);
  for (auto* spans : {&timeline.computations, &timeline.messages}) {
    for (Span& span : *spans) {
      span.start_seconds -= origin;
      span.end_seconds -= origin;
    }
  }
  timeline.makespan_seconds = timeline.computations.empty() ? 0 : end - origin;
  return timeline;
}

Timeline simulate(const Schedule& schedule, const pipeline::Costs& costs, const comm::SimNetwork& network) {
  Timeline timeline = make_timeline(schedule, costs);  // rejects what would hang
  launch::WorldSpec spec;
  spec.kind = launch::WorldKind::kSim;
  spec.num_ranks = schedule.num_ranks;
  spec.timeout_seconds = kForever;
  spec.traced = true;
  spec.network = network;
  const launch::WorldOutcome outcome = launch::run_ranks(spec, [&](Communicator& comm) {
    const at::Tensor activation = at::empty({costs.message_bytes}, at::TensorOptions(at::kMeta).dtype(at::kByte));
    pipeline::SimulatedStage work(schedule, costs, get_endpoint(comm), activation);
    run_schedule(schedule, comm.point_to_point(), work,
                 pipeline::same_buffers(activation.sizes(), activation.options()));
    return TensorMap{};
  });
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->message);
  std::vector<comm::TraceEvent> events;
  for (const launch::RankOutcome& rank : outcome.ranks)
    events.insert(events.end(), rank.trace.begin(), rank.trace.end());
  Timeline simulated = measured_timeline(schedule, events);
  simulated.peak_live_activations = timeline.peak_live_activations;
  simulated.links = timeline.links;
  return simulated;
}

}  // namespace lab::a5
