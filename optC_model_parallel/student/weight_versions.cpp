#include "optC_model_parallel/weight_versions.h"

namespace lab::optc {

WeightVersions::WeightVersions(Parameters first) {
  versions_.emplace(0, std::move(first));
}

const Parameters& WeightVersions::start(std::int64_t micro_batch, std::int64_t version) {
  if (versions_.count(version) == 0)
    throw ContractError(
        fmt::format("WeightVersions::start: micro-batch {} asks for version {}, which is not there; "
                    "kept are versions {} to {}",
                    micro_batch, version, versions_.begin()->first, newest()));
  // BEGIN SOLUTION optC.weight_versions
  // STUB // TODO(optC.weight_versions): write down who uses what, and that nobody will ask for an older version.
  // STUB not_implemented("optC.weight_versions", micro_batch, version, used_by_, oldest_wanted_);
  used_by_[micro_batch] = version;
  oldest_wanted_ = version;
  drop_unused();
  return versions_.at(version);
  // END SOLUTION optC.weight_versions
}

const Parameters& WeightVersions::of(std::int64_t micro_batch) const {
  const auto found = used_by_.find(micro_batch);
  if (found == used_by_.end())
    throw ContractError(
        fmt::format("WeightVersions::of: micro-batch {} is not under way; hint: start() first", micro_batch));
  // BEGIN SOLUTION optC.weight_versions
  // STUB // TODO(optC.weight_versions): the weights of its forward pass, not the newest.
  // STUB not_implemented("optC.weight_versions", found);
  return versions_.at(found->second);
  // END SOLUTION optC.weight_versions
}

void WeightVersions::finish(std::int64_t micro_batch) {
  // BEGIN SOLUTION optC.weight_versions
  // STUB // TODO(optC.weight_versions): the micro-batch uses nothing any more.
  // STUB not_implemented("optC.weight_versions", micro_batch);
  used_by_.erase(micro_batch);
  drop_unused();
  // END SOLUTION optC.weight_versions
}

void WeightVersions::add(Parameters next) {
  // BEGIN SOLUTION optC.weight_versions
  // STUB // TODO(optC.weight_versions): it is the newest version now, the older ones stay while they are in use.
  // STUB not_implemented("optC.weight_versions", next);
  versions_.emplace(newest() + 1, std::move(next));
  // END SOLUTION optC.weight_versions
}

std::int64_t WeightVersions::newest() const {
  return versions_.rbegin()->first;
}

void WeightVersions::drop_unused() {
  // BEGIN SOLUTION optC.weight_versions
  // STUB // TODO(optC.weight_versions): versions that no micro-batch uses and that are older than what was asked for
  // STUB // last.
  // STUB not_implemented("optC.weight_versions", versions_, used_by_, oldest_wanted_);
  for (auto each = versions_.begin(); each != versions_.end() && each->first < oldest_wanted_;) {
    const bool used =
        std::any_of(used_by_.begin(), used_by_.end(), [&](const auto& use) { return use.second == each->first; });
    each = used ? std::next(each) : versions_.erase(each);
  }
  // END SOLUTION optC.weight_versions
}

}  // namespace lab::optc
