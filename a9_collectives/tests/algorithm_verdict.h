#pragma once

#include <functional>
#include <string>

#include "a9_collectives/calls/calls.h"
#include "a9_collectives/cases/cases.h"
#include "common/testing/case_runs.h"

namespace lab::a9 {

/// A collective on a case's inputs.
using Run = std::function<at::Tensor(const at::Tensor& x, const CaseInputs&, PointToPoint&)>;

/// The verdict on the named case of an algorithm, if its function were this one.
inline std::string algorithm_verdict(const std::string& case_name, const Run& run, int size) {
  const auto is_operator = [&](const char* collective) { return case_name.rfind(collective, 0) == 0; };
  const Place place = is_operator("Broadcast") || is_operator("AllReduce") ? Place::kInPlace
                      : is_operator("AllToAll")                            ? Place::kNewContiguous
                                                                           : Place::kNew;
  const TaskCall call = [&](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor x = case_tensor(inputs);
    return collect_results(x, run(x, inputs, comm.point_to_point()), place);
  };
  return testing::verdict(algorithm_cases(), case_name, call, size);
}

}  // namespace lab::a9
