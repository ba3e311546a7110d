#pragma once

#include <cstdint>
#include <map>

#include "optC_model_parallel/model/model.h"

namespace lab::optc {

/// optC.weight_versions. The versions of one stage's weights that an asynchronous pipeline has in use. Version v has
/// v updates. A micro-batch's backward pass must use exactly the weights of its forward pass: they are stashed until
/// then.
class WeightVersions {
 public:
  /// Version 0.
  explicit WeightVersions(Parameters first);

  /// The weights for the micro-batch's forward pass; of(micro_batch) returns them again until finish(micro_batch).
  /// Micro-batches begin in order, and the version never goes back: older ones that no micro-batch uses are dropped.
  /// Errors    ContractError: a version that does not exist, or no longer does (checked before your code)
  const Parameters& start(std::int64_t micro_batch, std::int64_t version);

  /// Errors    ContractError: the micro-batch is not in flight (checked before your code)
  const Parameters& of(std::int64_t micro_batch) const;

  /// The micro-batch's backward pass is done. The version that only it used is dropped if it is older than the one that
  /// was asked for last.
  void finish(std::int64_t micro_batch);

  /// Adds the next version.
  void add(Parameters next);

  std::int64_t newest() const;
  std::size_t num_kept() const { return versions_.size(); }

 private:
  void drop_unused();

  std::map<std::int64_t, Parameters> versions_;
  std::map<std::int64_t, std::int64_t> used_by_;  ///< micro-batch -> version
  std::int64_t oldest_wanted_ = 0;                ///< no later forward pass asks for an older one
};

}  // namespace lab::optc
