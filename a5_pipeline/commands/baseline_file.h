#pragma once

#include <functional>
#include <string>
#include <utility>

#include "a5_pipeline/arguments.h"
#include "common/base/files.h"

namespace lab::a5 {

/// What the baseline left: "output<i>" of each micro-batch, and the gradient of every weight by its name, "layer3.fc1".
/// The file has no name any more, and is gone when nobody holds this.
class BaselineFile {
 public:
  BaselineFile() = default;  ///< of whoever has none
  explicit BaselineFile(UniqueFd file) : file_(std::move(file)) {}

  bool empty() const { return file_.get() < 0; }

  /// One tensor, in memory as long as it is held.
  /// Errors    ContractError: there is none of this name
  at::Tensor read(const std::string& name) const;

 private:
  UniqueFd file_;
};

/// Runs the baseline and leaves its results in a file, and nothing in memory: the whole model and the stages never stand
/// in memory together. It uses as many threads as the caller does elsewhere, so that where one machine has all ranks,
/// they and the baseline run the same kernels.
/// Call      local. `report` is called by the model for each layer that is made, has gone forward or backward, at most
///           as often as the batch has it: a baseline that never ends does not look alive
/// Errors    UsageError: the file cannot be written (in $TMPDIR, or /var/tmp); those of the baseline; ContractError: a
///           gradient is zero or not finite everywhere: a comparison with it would prove nothing
BaselineFile run_baseline(const PipelineArguments& arguments, const std::function<void()>& report = {});

}  // namespace lab::a5
