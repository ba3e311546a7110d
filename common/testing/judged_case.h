#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/files.h"
#include "common/checks/record_world.h"
#include "common/checks/verdict.h"

// A case from call to verdict, as in the judge: ranks are threads, their records go through files in memory.
namespace lab::testing {

/// The records that each rank leaves of the cases, in order; by rank.
inline std::vector<std::vector<CaseRecord>> recorded(const std::vector<Case>& cases, const CallTable& calls, int size,
                                                     WorldOutcome* outcome = nullptr) {
  std::vector<UniqueFd> files;
  std::vector<int> descriptors;
  for (int rank = 0; rank < size; ++rank) {
    files.emplace_back(make_record_file());
    descriptors.push_back(files.back().get());
  }
  WorldSpec spec;
  spec.num_ranks = size;
  const WorldOutcome ended = run_record_world(cases, calls, spec, 42, descriptors);
  if (outcome != nullptr) *outcome = ended;
  std::vector<std::vector<CaseRecord>> by_rank;
  for (const int descriptor : descriptors) by_rank.push_back(read_records(descriptor).records);
  return by_rank;
}

/// The verdict on one case with the given call.
inline CaseVerdict judged(const Case& test_case, const TaskCall& call, int size) {
  std::vector<std::optional<CaseRecord>> by_rank;
  for (const auto& records : recorded({test_case}, {{test_case.task, call}}, size))
    by_rank.push_back(records.empty() ? std::nullopt : std::make_optional(records.front()));
  return judge_case(test_case, size, 42, by_rank);
}

/// The symptom's id; empty: none.
inline std::string symptom_id(const CaseVerdict& verdict) {
  return verdict.symptom ? verdict.symptom->id : "";
}

/// The symptom of the named case with the given call instead of its task's, on `size` ranks.
inline std::string symptom_of(const std::vector<Case>& cases, const std::string& name, const TaskCall& call, int size) {
  for (const Case& test_case : cases) {
    if (test_case.name == name) return symptom_id(judged(test_case, call, size));
  }
  return "there is no case of this name";
}

/// The first known mistake of a case that is not recognised from its own wrong results on `size` ranks, if these are
/// wrong at all; empty: all are recognised.
inline std::string unrecognised_suspect(const std::vector<Case>& cases, int size) {
  for (const Case& test_case : cases) {
    for (const KnownMistake& mistake : test_case.known_mistakes) {
      const TaskCall call = [&](Communicator& comm, const CaseInputs&) {
        const CasePlace place{comm.rank(), comm.size(), 42};
        TensorMap results = test_case.expected(place);
        for (const auto& [name, tensor] : mistake.wrong(place)) results[name] = tensor;
        return results;
      };
      const CaseVerdict verdict = judged(test_case, call, size);
      if (!verdict.passed() && !verdict.too_expensive() && symptom_id(verdict) != mistake.id)
        return test_case.name + ": " + mistake.id;
    }
  }
  return "";
}

}  // namespace lab::testing
