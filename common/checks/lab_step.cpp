#include "common/checks/lab_step.h"

#include <cmath>

#include "common/comm/messages/get_endpoint.h"
#include "common/comm/messages/model_time.h"

namespace lab {
namespace {

constexpr const char* kInitialized = "[Distributed Init] Rank {rank} initialized on {node} on {device} {index}.";
constexpr const char* kReady = "All ranks ready!";
constexpr const char* kDone = "done";

log::ExpectedLine make_line(const Case& test_case, const log::LogExpectation& log, std::optional<double> max_bound) {
  const std::string reason = find_skip_reason(test_case, log.num_ranks());
  if (!reason.empty()) return log::ExpectedSkip{test_case.prefix, reason};
  const double atol = test_case.tolerance.atol;
  return log::ExpectedMatch{test_case.prefix, true, max_bound.value_or(std::isfinite(atol) ? atol : 1e-5), "", ""};
}

}  // namespace

void RankRun::check(const Case& test_case) {
  if (const std::string reason = find_skip_reason(test_case, comm.size()); !reason.empty())
    return out.skipped({test_case.prefix, comm.rank(), reason});
  const CaseResult result = run_case(test_case, calls, comm, options.seed, device);
  report(test_case, result);
  if (test_case.work)
    note_part(test_case.name, result.record.used,
              use_of_one_process(test_case, {comm.rank(), comm.size(), options.seed}));
}

void RankRun::note_part(const std::string& name, const ResourceUse& used, ResourceUse of_one_process) {
  of_one_process.model_time = comm::bound_model_time(of_one_process.flops);
  parts.push_back({name, used, of_one_process});
}

void RankRun::save(const Case& test_case, const CaseResult& result) {
  if (options.save_dir.empty()) return;
  for (const auto& [name, tensor] : result.inputs.tensors) saved[test_case.name + "." + name] = tensor;
  for (const auto& [name, tensor] : result.expected) saved[test_case.name + ".expected." + name] = tensor;
  for (const auto& [name, tensor] : result.record.results) {
    if (tensor.defined()) saved[test_case.name + ".actual." + name] = tensor;
  }
}

void RankRun::report(const Case& test_case, const CaseResult& result) {
  save(test_case, result);
  if (!result.over_budget.empty()) out.text(comm.rank(), test_case.task + ": " + result.over_budget);
  const Comparison& found = result.comparison;
  out.match({test_case.prefix, comm.rank(), result.passed(), found.max_diff, found.mean_diff});
}

LabStep announcement() {
  LabStep step;
  step.run = [](RankRun& run) {
    const char* device = run.device.is_cuda() ? "GPU" : "CPU";
    run.out.line(log::filled(kInitialized, run.comm.rank(), run.node, device, run.local_rank));
    run.comm.collectives().barrier();
    if (run.comm.rank() == 0) run.print(kReady);
  };
  step.expect = [](log::LogExpectation& log) {
    log.add_on_every_rank(log::ExpectedText{kInitialized});
    log.add(0, log::rank_text(kReady));
  };
  return step;
}

LabStep done() {
  LabStep step;
  step.run = [](RankRun& run) { run.print(kDone); };
  step.expect = [](log::LogExpectation& log) { log.add_on_every_rank(log::rank_text(kDone)); };
  return step;
}

std::vector<Case> list_cases(const std::vector<Section>& sections) {
  std::vector<Case> all;
  for (const Section& section : sections) all.insert(all.end(), section.cases.begin(), section.cases.end());
  return all;
}

LabStep checks(const std::vector<Section>& sections, std::optional<double> max_bound) {
  LabStep step;
  step.run = [sections](RankRun& run) {
    for (const Section& section : sections) {
      if (run.comm.rank() == 0 && !section.message.empty()) run.out.text(0, section.message);
      for (const Case& test_case : section.cases) {
        if (is_asked(test_case, run.comm.rank())) {
          run.check(test_case);
        } else if (find_skip_reason(test_case, run.comm.size()).empty()) {
          get_endpoint(run.comm).restart_clock();  // a trace's n-th period is the same check on all ranks
        }
      }
    }
  };
  step.expect = [sections, max_bound](log::LogExpectation& log) {
    for (const Section& section : sections) {
      if (!section.message.empty()) log.add(0, log::rank_text(section.message));
      for (const Case& test_case : section.cases) {
        const log::ExpectedLine line = make_line(test_case, log, max_bound);
        for (int rank = 0; rank < log.num_ranks(); ++rank) {
          if (is_asked(test_case, rank)) log.add(rank, line);
        }
      }
    }
  };
  return step;
}

log::LogExpectation make_expectation(const std::vector<LabStep>& steps, int num_ranks, const std::string& world) {
  log::LogExpectation log(num_ranks, world);
  for (const LabStep& step : steps) {
    if (step.expect) step.expect(log);
  }
  return log;
}

}  // namespace lab
