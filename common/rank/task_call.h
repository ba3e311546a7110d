#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/costs.h"
#include "common/base/errors.h"
#include "common/comm/communicator.h"
#include "common/tensor/tensor_map.h"

// What runs on a rank: a task's student function, from inputs to results. It knows neither what is expected nor where
// the inputs come from, so that a judged rank can be given them (rank_program.h).
namespace lab {

/// What a task is given: tensors, named "input.x" or "weight.W", and plain numbers such as sizes.
struct CaseInputs {
  TensorMap tensors;
  std::map<std::string, double> numbers;
  std::uint64_t seed = 42;       ///< for tasks that draw their own data; a judged rank gets another (sent_tensors.h)
  at::Device device = at::kCPU;  ///< where the tensors are and the task runs

  const at::Tensor& tensor(const std::string& name) const;
  std::int64_t integer(const std::string& name) const;
  double number(const std::string& name) const;
};

/// Runs a task's student function on this rank: from inputs to named results.
using TaskCall = std::function<TensorMap(Communicator&, const CaseInputs&)>;

/// Task id -> student function: what a lab's calls() provides.
using CallTable = std::map<std::string, TaskCall>;

/// What a call throws if student code returned something that is not what the contract says, such as a view of its
/// argument; perform_call() adds the task and the case to the message.
struct ResultError : ContractError {
  using ContractError::ContractError;
};

/// What a case's call did on one rank: nothing is judged.
struct CaseRun {
  CaseInputs inputs;
  TensorMap actual;                ///< on the CPU
  std::vector<LedgerEntry> spent;  ///< by operation, during the case
  ResourceUse used;
};

/// Runs the call of a task on these inputs, for the case of that name; all ranks together. The results are moved to the
/// CPU.
/// Errors    ContractError: the task has no call; a message was posted and not waited for
///           what the call throws: a lab::Error as it is, anything else as an Error of exit code 7 with the task, the
///           case, the line in student code and the inputs' shapes
CaseRun perform_call(const CallTable& calls, const std::string& task, const std::string& name, CaseInputs inputs,
                     Communicator& comm);

}  // namespace lab
