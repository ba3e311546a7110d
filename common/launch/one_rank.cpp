#include "common/launch/one_rank.h"

#include <ATen/Context.h>
#include <fmt/format.h>
#include <malloc.h>

#include <limits>

#include "common/api/errors.h"
#include "common/base/failure.h"
#include "common/base/stack/student_place.h"
#include "common/base/stack/throw_site.h"
#include "common/comm/messages/endpoint.h"
#include "common/launch/supervise/cores.h"
#include "common/tensor/meters/memory_meter.h"
#include "common/tensor/meters/work_meter.h"

namespace lab::launch {
namespace {

RankFailure describe_failure(const std::exception& failure) {
  return {choose_exit_code(failure), get_message(failure)};
}

/// The same for what a rank's body threw. Unless it is known to come from the suite alone, it counts as the student's:
/// 70 is for an error in the suite. Null: what was thrown is not an exception.
RankFailure failure_of_body(const std::exception* failure) {
  if (dynamic_cast<const Error*>(failure) != nullptr) return describe_failure(*failure);
  const ThrowSite site = throw_site(failure);
  const bool of_suite = site.known && site.student_line.empty();
  return {static_cast<int>(of_suite ? ExitCode::kInternal : ExitCode::kStudentCode), student_message(failure)};
}

}  // namespace

void install_meters() {
  install_memory_meter();
  install_work_meter();
}

void run_one_rank(const std::shared_ptr<comm::Transport>& transport,
                  const std::shared_ptr<comm::CollectiveBackend>& collectives, const WorldSpec& spec,
                  const RankBody& body, RankOutcome& outcome) {
  outcome.report.rank = transport->rank();
  const WorkScope work;
  const auto endpoint = std::make_shared<Endpoint>(
      transport, spec.traced, spec.payload_label, [&work] { return work.flops(); }, spec.model_rates);
  endpoint->set_careful(spec.careful);
  const auto record_failure = [&](const std::exception* failure) {
    outcome.failure = failure_of_body(failure);
    outcome.report.error = outcome.failure->message;
    transport->fail(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->message);
  };
  {
    const MemoryScope memory(MemoryScope::kAnyBytes,
                             spec.careful ? MemoryScope::Fresh::kGarbage : MemoryScope::Fresh::kAnything);
    try {
      Communicator comm(endpoint, collectives);
      body(comm, outcome);
      endpoint->close();
    } catch (const std::exception& failure) {
      record_failure(&failure);
    } catch (...) {
      record_failure(nullptr);
    }
    outcome.report.peak_tensor_bytes = memory.reading().peak_bytes;
    outcome.report.flops = work.flops();
    outcome.report.model_time_ps = endpoint->model_time();
  }
  outcome.report.ledger = endpoint->ledger().entries();
  outcome.trace = endpoint->trace();
  transport->set_work_counter({});
}

RankOutcome run_process_rank(comm::ProcessWorldOptions options, const WorldSpec& spec, const RankBody& body) {
  keep_freed_memory();
  RankOutcome outcome;
  outcome.report.rank = options.rank;
  options.transport = spec.transport;
  options.usable_cores = usable_cores();
  if (spec.ranks_per_host > 0) options.host = fmt::format("host {}", options.rank / spec.ranks_per_host);
  try {
    const std::unique_ptr<comm::ProcessWorld> world = comm::ProcessWorld::join(options);
    const FollowedThread followed(world->student_place(), options.rank);
    run_one_rank(world->transport(), world->collectives(), spec, body, outcome);
  } catch (const std::exception& failure) {
    outcome.failure = describe_failure(failure);
    outcome.report.error = outcome.failure->message;
  }
  return outcome;
}

void keep_freed_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_ARENA_MAX, 1);  // those of other threads give back what is free, whatever the threshold
}

void compute_without_onednn() {
  at::globalContext().setUserEnabledMkldnn(false);
}

}  // namespace lab::launch
