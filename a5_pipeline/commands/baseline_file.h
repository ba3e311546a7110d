#pragma once

#include <functional>
#include <string>
#include <utility>

#include "a5_pipeline/arguments.h"
#include "common/base/costs.h"
#include "common/base/files.h"

namespace lab::a5 {

/// The baseline's results: "output<i>" of each micro-batch, and the gradient of every weight by its name, "layer3.fc1".
/// The file is already unlinked, and is freed with this object.
class BaselineFile {
 public:
  BaselineFile() = default;  ///< empty
  explicit BaselineFile(UniqueFd file, const ResourceUse& used = {}) : file_(std::move(file)), used_(used) {}

  bool empty() const { return file_.get() < 0; }

  /// One tensor, in memory only as long as it lives.
  /// Errors    ContractError: there is no tensor of this name
  at::Tensor read(const std::string& name) const;

  /// What the model's passes used, and the model itself.
  const ResourceUse& used() const { return used_; }

 private:
  UniqueFd file_;
  ResourceUse used_;
};

/// Runs the baseline and leaves its results in a file, and nothing in memory: the whole model and the stages are never
/// in memory at the same time. It uses as many threads as the caller does elsewhere, so that on a single machine the
/// ranks and the baseline run the same kernels.
/// Call      local. `report` is called for each layer made and each forward and backward pass of a layer, at most as
///           often as the batch needs: a baseline that never ends does not look alive
/// Errors    UsageError: the file cannot be written (in $TMPDIR, or /var/tmp)
///           ContractError: an output or a gradient has norm zero or is not finite: a comparison with it would prove
///           nothing
///           those of the baseline
BaselineFile run_baseline(const PipelineArguments& arguments, const std::function<void()>& report = {});

}  // namespace lab::a5
