#pragma once

#include <string>
#include <utility>

#include "a5_pipeline/arguments.h"
#include "common/report/unique_fd.h"

namespace lab::a5 {

/// What the baseline left: "output<i>" of each micro-batch, and the gradient of every weight by its name, "layer3.fc1".
/// The file has no name any more, and is gone when nobody holds this.
class BaselineFile {
 public:
  BaselineFile() = default;  ///< of whoever has none
  explicit BaselineFile(UniqueFd file) : file_(std::move(file)) {}

  /// One tensor, in memory as long as it is held.
  /// Errors    ContractError: there is none of this name
  at::Tensor read(const std::string& name) const;

 private:
  UniqueFd file_;
};

/// Runs the baseline in a process of its own, which is gone when this returns: the whole model and the stages never
/// stand in memory together.
/// Call      before this process has ranks or has worked with tensors
/// Errors    UsageError: the file cannot be written (in $TMPDIR, or /var/tmp); those of the baseline; ContractError: a
///           gradient is zero or not finite everywhere: a comparison with it would prove nothing
BaselineFile run_baseline(const PipelineArguments& arguments);

}  // namespace lab::a5
