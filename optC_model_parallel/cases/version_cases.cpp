#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/pipeline/generators.h"
#include "optC_model_parallel/cases/cases.h"

namespace lab::optc {
namespace {

constexpr std::int64_t kNumMicroBatches = 15;
constexpr int kMostStages = 8;

/// A stage of a pipeline with stale weights.
struct StaleStage {
  std::int64_t num_in_flight = 1;  ///< micro-batches at a time
  std::int64_t per_update = 1;     ///< micro-batches
  std::int64_t staleness = 0;      ///< updates between the first version and a full pipeline's
};

/// Of 4 stages: PipeDream on the first, second and last; vertical sync on the second and last; PipeDream-2BW with 4
/// micro-batches on the first and last.
constexpr StaleStage kStaleStages[] = {{4, 1, 3}, {3, 1, 2}, {1, 1, 0}, {3, 1, 3}, {1, 1, 3}, {4, 4, 1}, {1, 4, 1}};
constexpr std::int64_t kNumStaleStages = sizeof(kStaleStages) / sizeof(kStaleStages[0]);

std::int64_t find_version(const StaleStage& stage, std::int64_t micro_batch) {
  return std::max<std::int64_t>(0, micro_batch / stage.per_update - stage.staleness);
}

/// How many versions there are when micro-batches before `num_done` are done and those up to `latest` have begun: those
/// that are in use, and from the one asked for last to the newest, as any of these may be asked for next.
std::int64_t num_kept(const StaleStage& stage, std::int64_t latest, std::int64_t num_done, std::int64_t newest) {
  std::set<std::int64_t> kept;
  for (std::int64_t i = num_done; i <= latest; ++i) kept.insert(find_version(stage, i));
  for (std::int64_t version = find_version(stage, latest); version <= newest; ++version) kept.insert(version);
  return static_cast<std::int64_t>(kept.size());
}

/// The most versions during a forward pass, or when a backward pass is done, and its update not yet made.
std::int64_t most_kept(const StaleStage& stage, bool after_backward) {
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < kNumMicroBatches; ++i) {
    const std::int64_t others = stage.num_in_flight - 1;
    const std::int64_t latest = after_backward ? std::min(kNumMicroBatches - 1, i + others) : i;
    const std::int64_t num_done = after_backward ? i + 1 : std::max<std::int64_t>(0, i - others);
    most = std::max(most, num_kept(stage, latest, num_done, (after_backward ? i : num_done) / stage.per_update));
  }
  return most;
}

CaseInputs versions_inputs() {
  const at::Tensor versions = at::zeros({kNumStaleStages, kNumMicroBatches}, at::kLong);
  const at::Tensor stages = at::zeros({kNumStaleStages, 2}, at::kLong);
  for (std::int64_t i = 0; i < kNumStaleStages; ++i) {
    const StaleStage& stage = kStaleStages[i];
    for (std::int64_t j = 0; j < kNumMicroBatches; ++j) versions[i][j] = find_version(stage, j);
    stages[i][0] = stage.num_in_flight;
    stages[i][1] = stage.per_update;
  }
  CaseInputs inputs;
  inputs.tensors = {{"input.versions", versions}, {"input.stages", stages}};
  return inputs;
}

Case versions_case() {
  Case result = local_case("optC.weight_versions", "WeightVersions");
  result.inputs = [](const CasePlace&) { return versions_inputs(); };
  result.expected = [](const CasePlace&) {
    const at::Tensor versions = versions_inputs().tensor("input.versions");
    std::vector<std::int64_t> during_forward, after_backward;
    for (const StaleStage& stage : kStaleStages) {
      during_forward.push_back(most_kept(stage, false));
      after_backward.push_back(most_kept(stage, true));
    }
    return TensorMap{{"forward", versions},
                     {"backward", versions},
                     {"num_same", at::full({kNumStaleStages}, kNumMicroBatches, at::kLong)},
                     {"most_during_forward", at::tensor(during_forward, at::kLong)},
                     {"most_after_backward", at::tensor(after_backward, at::kLong)}};
  };
  result.meaning = [](const CasePlace&, const std::string& name, at::IntArrayRef index) {
    const StaleStage& stage = kStaleStages[index[0]];
    const std::string on = fmt::format("on a stage with {} micro-batches in flight, {} to an update",
                                       stage.num_in_flight, stage.per_update);
    if (index.size() == 2) return fmt::format("the version of micro-batch {}'s {} pass {}", index[1], name, on);
    if (name == "num_same") return "backward passes with the tensors of their forward passes " + on;
    return fmt::format("the most versions {} a {} pass {}", name == "most_during_forward" ? "during" : "after",
                       name == "most_during_forward" ? "forward" : "backward", on);
  };
  return result;
}

/// [p - 1, s, i]: how many backward passes stage s of p has done when it comes to forward pass i, counted in the 1F1B
/// schedule itself; of a stage that is not there, -1.
at::Tensor backward_passes_before() {
  const at::Tensor counts = at::full({kMostStages, kMostStages, kNumMicroBatches}, -1, at::kLong);
  for (int p = 1; p <= kMostStages; ++p) {
    const pipeline::Schedule schedule = pipeline::make_schedule({"1f1b", p, static_cast<int>(kNumMicroBatches)});
    for (int stage = 0; stage < p; ++stage) {
      std::int64_t num_backward = 0;
      for (const pipeline::Action& action : schedule.ranks[static_cast<std::size_t>(stage)]) {
        if (action.operation == pipeline::Operation::kForward) counts[p - 1][stage][action.micro_batch] = num_backward;
        num_backward += action.operation == pipeline::Operation::kBackward;
      }
    }
  }
  return counts;
}

/// `meaning`: of an element's index.
Case table_case(const std::string& task, const std::string& name, const std::function<at::Tensor()>& table,
                const std::function<std::string(at::IntArrayRef index)>& meaning) {
  Case result = local_case(task, name);
  result.inputs = [](const CasePlace&) {
    CaseInputs inputs;
    inputs.numbers = {{"num_micro_batches", kNumMicroBatches}, {"most_stages", kMostStages}};
    return inputs;
  };
  result.expected = [table](const CasePlace&) { return TensorMap{{"versions", table()}}; };
  result.meaning = [meaning](const CasePlace&, const std::string&, at::IntArrayRef index) { return meaning(index); };
  return result;
}

/// [m - 1, i]: of a mini-batch's whole predecessors, all but one have been updated by.
at::Tensor two_version_table() {
  const at::Tensor versions = at::zeros({kMostStages, kNumMicroBatches}, at::kLong);
  for (std::int64_t m = 1; m <= kMostStages; ++m) {
    for (std::int64_t i = 2 * m; i < kNumMicroBatches; ++i) versions[m - 1][i] = versions[m - 1][i - m] + 1;
  }
  return versions;
}

}  // namespace

std::vector<Case> version_cases() {
  return {
      versions_case(),
      table_case("optC.pipedream", "PipeDreamVersions", backward_passes_before,
                 [](at::IntArrayRef index) {
                   return fmt::format("of mini-batch {} on stage {} of {}", index[2], index[1], index[0] + 1);
                 }),
      table_case(
          "optC.vertical_sync", "VerticalSyncVersions",
          [] { return backward_passes_before().select(1, 0).contiguous(); },
          [](at::IntArrayRef index) { return fmt::format("of mini-batch {} on {} stages", index[1], index[0] + 1); }),
      table_case("optC.pipedream_2bw", "PipeDream2bwVersions", two_version_table, [](at::IntArrayRef index) {
        return fmt::format("of micro-batch {}, with {} of them in a mini-batch", index[1], index[0] + 1);
      })};
}

}  // namespace lab::optc
