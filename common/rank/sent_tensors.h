#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "common/rank/task_call.h"

// Where a contract passes a seed, a lab's provided functions draw data and weights from it, and whoever has the seed
// has those of every rank. So the program of a judged rank has other versions of these functions, which draw nothing:
// they return what the judge has drawn and sent, this rank's own part. lab_draws() in common/cmake/lab_targets.cmake
// chooses.
namespace lab {

/// While it lives, sent_tensor() finds these inputs, on this thread: the provided functions have no argument through
/// which it could be passed, and in tests ranks are threads.
class SentTensors {
 public:
  explicit SentTensors(const CaseInputs& inputs);
  ~SentTensors();
  SentTensors(const SentTensors&) = delete;
  SentTensors& operator=(const SentTensors&) = delete;

 private:
  const CaseInputs inputs_;
  const CaseInputs* const outer_;
};

/// The input of this name, for a function that was asked to draw it in these sizes from this seed.
/// Call      local, while a SentTensors lives
/// Aliasing  a copy
/// Errors    UsageError: no such tensor was sent; another seed than the inputs', other sizes
at::Tensor sent_tensor(const std::string& name, at::IntArrayRef sizes, std::uint64_t seed);

}  // namespace lab
