#pragma once

#include <functional>
#include <string>
#include <vector>

#include "a9_collectives/allgather.h"
#include "a9_collectives/cases/cases.h"
#include "common/testing/case_runs.h"
#include "common/testing/judged_case.h"

// A wrong function in the place of a collective, and what its case makes of it.
namespace lab::a9 {

inline std::vector<Case> cases_of_collectives() {
  std::vector<Case> cases = collective_cases();
  for (const std::vector<Case>& further : {further_collective_cases(), algorithm_cases()})
    cases.insert(cases.end(), further.begin(), further.end());
  return cases;
}

/// As a student would write it: given the case's tensor (with its strides) and the messages.
using OnTensor = std::function<at::Tensor(at::Tensor x, PointToPoint& p2p, const CaseInputs& inputs)>;

inline Place place_of(const std::string& case_name) {
  if (case_name.rfind("Broadcast", 0) == 0 || case_name.rfind("AllReduce", 0) == 0) return Place::kInPlace;
  return case_name.rfind("AllToAll", 0) == 0 ? Place::kNewContiguous : Place::kNew;
}

/// The call of the named case's task, if its function were this one.
inline TaskCall call_of(const std::string& case_name, const OnTensor& function) {
  return [function, place = place_of(case_name)](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor x = case_tensor(inputs);
    return results_of(x, function(x, comm.point_to_point(), inputs), place);
  };
}

/// The verdict on the wrong call in place of the named case's own.
inline std::string result_verdict(const std::string& case_name, const TaskCall& call, int size = 4) {
  return testing::verdict(cases_of_collectives(), case_name, call, size);
}
inline std::string result_verdict(const std::string& case_name, const OnTensor& function, int size = 4) {
  return result_verdict(case_name, call_of(case_name, function), size);
}

/// What find_symptom() says of it.
inline std::string symptom(const std::string& case_name, const TaskCall& call, int size = 4) {
  return testing::symptom_of(cases_of_collectives(), case_name, call, size);
}
inline std::string symptom(const std::string& case_name, const OnTensor& function, int size = 4) {
  return symptom(case_name, call_of(case_name, function), size);
}

/// Another algorithm under the case's name.
inline OnTensor claims(at::Tensor (*function)(at::Tensor, PointToPoint&)) {
  return [function](at::Tensor x, PointToPoint& p2p, const CaseInputs&) { return function(x, p2p); };
}

inline int src_rank_of(const CaseInputs& inputs) {
  return static_cast<int>(inputs.integer("src_rank"));
}

/// Every rank's tensor, by messages.
inline std::vector<at::Tensor> everybodys(const at::Tensor& x, PointToPoint& p2p) {
  return allgather_direct(x.contiguous().view({1, -1}), p2p).chunk(p2p.size(), 0);
}

inline at::Tensor sum_of(const std::vector<at::Tensor>& rows, at::IntArrayRef shape) {
  return at::cat(rows).sum(0, false, rows[0].scalar_type()).view(shape);
}

}  // namespace lab::a9
