#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/api/communicator.h"
#include "common/api/errors.h"
#include "common/api/tensor_map.h"

// What runs on a rank: a task's student function, from inputs to results. It knows neither what is expected nor where
// the inputs come from, so that a judged rank can be given them (rank_program.h).
namespace lab {

/// What a task is given in one case: tensors, named "input.x" or "weight.W", and plain numbers such as sizes. Nothing in
/// it says what is expected: the judge sends it to a rank as it is.
struct CaseInputs {
  TensorMap tensors;
  std::map<std::string, double> numbers;
  std::uint64_t seed = 42;       ///< for tasks that draw their own data; a judged rank gets another (sent_tensors.h)
  at::Device device = at::kCPU;  ///< where the tensors are and the task runs
  std::string task = {},
              name = {};  ///< "a9.broadcast", and the case: "BroadcastFromLast"; filled in by judged_inputs()
  int call = 1;           ///< which one of the case's calls, each with data of its own; as above
  bool is_last = false;   ///< of them, so that what it got and returned need not be remembered; as above

  const at::Tensor& tensor(const std::string& key) const;
  std::int64_t integer(const std::string& key) const;
  double number(const std::string& key) const;
};

/// As one file of safetensors.
/// Errors    UsageError: a dtype that safetensors does not have
std::string to_bytes(const CaseInputs& inputs);

/// What to_bytes() wrote. The tensors are on the CPU and contiguous.
/// Errors    UsageError: these bytes are no inputs
CaseInputs inputs_from_bytes(const std::string& bytes);

/// Runs a task's student function on this rank: from inputs to named results.
using TaskCall = std::function<TensorMap(Communicator&, const CaseInputs&)>;

/// Task id -> student function: what a lab's calls() provides.
using CallTable = std::map<std::string, TaskCall>;

/// Whether `out` takes this gradient. A missing graph, and another shape, show in the results.
bool can_go_backward(const at::Tensor& out, const at::Tensor& grad_out);

/// Detached; undefined for an undefined one.
at::Tensor without_graph(const at::Tensor& tensor);

/// A copy in the memory of its transpose, as a slice or a gradient may come.
at::Tensor with_other_strides(const at::Tensor& tensor);

/// What a call throws if student code returned something that is not what the contract says, such as a view of its
/// argument; perform_and_keep() adds the task and the case to the message.
struct ResultError : ContractError {
  using ContractError::ContractError;
};

}  // namespace lab
