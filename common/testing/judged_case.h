#pragma once

#include <string>
#include <vector>

#include "common/checks/check_run.h"

// A case from call to verdict, as in the judge: ranks are threads, their records go through files in memory.
namespace lab::testing {

/// The cases in a world of threads.
inline RecordedWorld recorded(const std::vector<Case>& cases, const CallTable& calls, int size) {
  launch::WorldSpec spec;
  spec.num_ranks = size;
  return record_cases(cases, calls, spec, 42);
}

/// The verdict on one case with the given call.
inline CaseVerdict judged(const Case& test_case, const TaskCall& call, int size) {
  return recorded({test_case}, {{test_case.task, call}}, size).judged(test_case, 42);
}

/// The symptom of the named case with the given call instead of its task's, on `size` ranks.
inline std::string choose_symptom(const std::vector<Case>& cases, const std::string& name, const TaskCall& call,
                                  int size) {
  for (const Case& test_case : cases) {
    if (test_case.name == name) return judged(test_case, call, size).symptom.id;
  }
  return "unknown case";
}

/// The first known mistake of a case that is not recognised from its own wrong results on `size` ranks, if these are
/// wrong at all; empty: all are recognised.
inline std::string unrecognised_mistake(const std::vector<Case>& cases, int size) {
  for (const Case& test_case : cases) {
    if (!find_skip_reason(test_case, size).empty()) continue;
    for (const KnownMistake& mistake : test_case.known_mistakes) {
      const TaskCall call = [&](Communicator& comm, const CaseInputs& inputs) {
        const CasePlace place{comm.rank(), comm.size(), seed_of_call(42, inputs.call)};
        TensorMap results = test_case.expected(place);
        for (const auto& [name, tensor] : mistake.wrong(place)) results[name] = tensor;
        return results;
      };
      const CaseVerdict verdict = judged(test_case, call, size);
      if (!verdict.passed() && !verdict.too_expensive() && verdict.symptom.id != mistake.id)
        return test_case.name + ": " + mistake.id;
    }
  }
  return "";
}

}  // namespace lab::testing
