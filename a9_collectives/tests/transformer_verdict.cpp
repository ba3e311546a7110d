#include "a9_collectives/tests/transformer_verdict.h"

#include "a9_collectives/cases/cases.h"
#include "common/base/errors.h"
#include "common/launch/run_ranks.h"

namespace lab::a9 {
namespace {

struct Verdict {
  ExitCode exit_code = ExitCode::kInternal;
  bool numbers_match = true;
  bool within_bounds = true;
};

Verdict verdict(const std::string& case_name, const TaskCall& call, int num_ranks) {
  std::vector<Case> cases = transformer_cases();
  for (const Case& further : transformer_gradient_cases()) cases.push_back(further);
  for (const Case& test_case : cases) {
    if (test_case.name != case_name) continue;
    WorldSpec spec;
    spec.num_ranks = num_ranks;
    const CallTable table = {{test_case.task, call}};
    const auto outcome = run_ranks(spec, RankBody([&](Communicator& comm, RankOutcome& own) {
                                     const CaseResult result = run_case(test_case, table, comm, 42);
                                     if (!result.comparison.close) own.tensors["differs"] = at::ones({});
                                     if (!result.over_budget.empty()) own.tensors["over budget"] = at::ones({});
                                   }));
    Verdict found;
    found.exit_code = static_cast<ExitCode>(outcome.exit_code());
    for (const RankOutcome& rank : outcome.ranks) {
      found.numbers_match = found.numbers_match && rank.tensors.count("differs") == 0;
      found.within_bounds = found.within_bounds && rank.tensors.count("over budget") == 0;
    }
    return found;
  }
  throw UsageError("no case is called " + case_name);
}

}  // namespace

bool passes(const std::string& case_name, const TaskCall& call, int num_ranks) {
  const Verdict found = verdict(case_name, call, num_ranks);
  return found.exit_code == ExitCode::kAllMatch && found.numbers_match && found.within_bounds;
}

bool differs(const std::string& case_name, const TaskCall& call, int num_ranks) {
  const Verdict found = verdict(case_name, call, num_ranks);
  return found.exit_code == ExitCode::kAllMatch && !found.numbers_match;
}

bool is_over_budget(const std::string& case_name, const TaskCall& call, int num_ranks) {
  const Verdict found = verdict(case_name, call, num_ranks);
  return found.exit_code == ExitCode::kAllMatch && found.numbers_match && !found.within_bounds;
}

bool is_refused(const std::string& case_name, const TaskCall& call, int num_ranks) {
  return verdict(case_name, call, num_ranks).exit_code == ExitCode::kContract;
}

}  // namespace lab::a9
