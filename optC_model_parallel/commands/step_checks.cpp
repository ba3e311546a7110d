#include "optC_model_parallel/commands/step_checks.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

#include "common/api/compare.h"
#include "common/api/errors.h"
#include "common/api/tensor_map.h"
#include "common/comm/lone_work.h"
#include "optC_model_parallel/cases/reference/exact_step.h"
#include "optC_model_parallel/cases/reference/single.h"
#include "optC_model_parallel/commands/training_run.h"
#include "optC_model_parallel/model.h"
#include "optC_model_parallel/model/data/batches.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"
#include "optC_model_parallel/model/training/batched_logits.h"
#include "optC_model_parallel/models.h"

namespace lab::optc {
namespace {

/// Which tensors of a model each rank of a run has, whole ones or shards, and how they are packed into one vector.
class RankShares {
 public:
  RankShares(const TrainingRun& run, int num_ranks);

  const ModelSpec& model() const { return model_; }  ///< whole
  int num_ranks() const { return static_cast<int>(shares_.size()); }

  /// The rank's part of the whole model's tensors; `whole` may hold only some of them.
  /// Aliasing  copies, or the same tensors
  TensorMap share_of(const TensorMap& whole, int rank) const;
  /// The whole tensors, from each rank's part.
  /// Errors    ContractError: a rank lacks one
  TensorMap whole(const std::vector<TensorMap>& shares) const;

  /// The rank's tensors one after the other, as float64, padded with zeros to the same length on every rank. A missing
  /// tensor is NaN. `only_learning`: without running statistics.
  at::Tensor flat(const TensorMap& share, int rank, bool only_learning) const;
  TensorMap from_flat(const at::Tensor& flat, int rank, bool only_learning) const;

 private:
  ModelSpec model_;
  std::vector<std::vector<ParameterSpec>> shares_;  ///< with the shapes of shards
  bool split_;                                      ///< tensor parallelism
  std::int64_t longest_ = 0;
};

std::int64_t num_elements(const ParameterSpec& spec) {
  std::int64_t count = 1;
  for (const std::int64_t size : spec.shape) count *= size;
  return count;
}

std::vector<ParameterSpec> parameters_of(const ModelSpec& model) {
  std::vector<ParameterSpec> all;
  for (const LayerSpec& layer : model.layers) all.insert(all.end(), layer.parameters.begin(), layer.parameters.end());
  return all;
}

RankShares::RankShares(const TrainingRun& run, int num_ranks)
    : model_(model_named(run.training.model)), split_(run.parallelism == Parallelism::kTensor) {
  for (int rank = 0; rank < num_ranks; ++rank) {
    if (split_) {
      shares_.push_back(parameters_of(model_));
      for (ParameterSpec& spec : shares_.back()) {
        if (spec.split_dim >= 0) spec.shape[static_cast<std::size_t>(spec.split_dim)] /= num_ranks;
      }
    } else {
      const StagePlan plan = balanced_plan(model_, num_ranks, run.pipeline.num_chunks);
      shares_.push_back(parameters_of(layers_of_rank(plan, rank)));
    }
    std::int64_t length = 0;
    for (const ParameterSpec& spec : shares_.back()) length += num_elements(spec);
    longest_ = std::max(longest_, length);
  }
}

TensorMap RankShares::share_of(const TensorMap& whole, int rank) const {
  if (split_) return shard_of(model_, whole, rank, num_ranks());
  TensorMap share;
  for (const ParameterSpec& spec : shares_[static_cast<std::size_t>(rank)]) {
    const auto found = whole.find(spec.name);
    if (found != whole.end()) share[spec.name] = found->second;
  }
  return share;
}

TensorMap RankShares::whole(const std::vector<TensorMap>& shares) const {
  TensorMap all;
  for (const ParameterSpec& spec : parameters_of(model_)) {
    std::vector<at::Tensor> parts;
    for (const TensorMap& share : shares) {
      const auto found = share.find(spec.name);
      if (found != share.end() && (parts.empty() || (split_ && spec.split_dim >= 0))) parts.push_back(found->second);
    }
    if (parts.empty()) throw ContractError(fmt::format("expected '{}' on one of the ranks, found none", spec.name));
    all[spec.name] = parts.size() == 1 ? parts.front() : at::cat(parts, spec.split_dim);
  }
  return all;
}

at::Tensor RankShares::flat(const TensorMap& share, int rank, bool only_learning) const {
  const at::Tensor all = at::zeros({longest_}, at::kDouble);
  std::int64_t begin = 0;
  for (const ParameterSpec& spec : shares_[static_cast<std::size_t>(rank)]) {
    if (only_learning && !spec.learns) continue;
    const std::int64_t count = num_elements(spec);
    const auto found = share.find(spec.name);
    if (found == share.end()) {
      all.narrow(0, begin, count).fill_(std::numeric_limits<double>::quiet_NaN());
    } else {
      all.narrow(0, begin, count).copy_(found->second.flatten());
    }
    begin += count;
  }
  return all;
}

TensorMap RankShares::from_flat(const at::Tensor& flat, int rank, bool only_learning) const {
  TensorMap share;
  std::int64_t begin = 0;
  for (const ParameterSpec& spec : shares_[static_cast<std::size_t>(rank)]) {
    if (only_learning && !spec.learns) continue;
    share[spec.name] = flat.narrow(0, begin, num_elements(spec)).view(spec.shape);
    begin += num_elements(spec);
  }
  return share;
}

// A float32 sum of n products has a rounding error of about sqrt(n) u of its terms' size, u = 2^-24. The longest sums
// here, weight gradients of convolutions, have 10^4 to 10^5 terms, and the deepest model has ten layers: 256 u bounds a
// gradient's relative error if only rounding is at work (measured: 2e-7 to 2e-6). Losses and logits, which are
// continuous in all values, are always within it.
//
// A ReLU or a max-pool whose inputs are that close to a tie may decide the other way, and then the gradient is off by
// that decision's share of it: 1e-5 to 1e-2 so far, more for smaller batches and layers, so no constant works. How much
// it can be is found by computing the step again in float64 with every weight and pixel moved by 256 u at random
// (exact_step.h): each of these samples flips a decision that rounding may flip with a probability of about a half. In
// only 2^-32 of these rare steps does none of 32 samples come as far as a correct gradient; a gradient that is 20 % off
// is as far from all of them. A gradient of a loss near 0, whose relative error is large, is moved as far. If several
// decisions differ, a sample has about half of them: hence twice its distance.
constexpr double kRounding = 1.0 / (1 << 16);
constexpr int kMostSamples = 32;
constexpr int kFewerSamples = 8;  ///< after a wrong step: there will be more, and each would take all 32
constexpr double kSafety = 2;
constexpr Tolerance kLosses{kRounding, kRounding};

/// All ranks' data of a step, on the rank that checks it.
struct GatheredStep {
  std::vector<TensorMap> weights;     ///< of each rank
  std::vector<at::Tensor> gradients;  ///< of each rank, flat
};

/// The same step in float64.
struct Verdict {
  ExactStep exact;
  std::vector<double> allowed;  ///< of each rank's gradient: a norm
};

class Checker {
 public:
  Checker(const TrainingRun& run, const RankShares& shares, const Images& images)
      : training_(run.training), shares_(shares), images_(images) {}

  Verdict check(std::int64_t step, const GatheredStep& gathered, const std::function<void()>& report) {
    const std::int64_t steps_per_epoch = num_batches(images_.size(), training_.batch_size);
    const EpochBatches batches(images_.size(), training_.batch_size, training_.seed, step / steps_per_epoch);
    const at::Tensor indices = batches.indices(step % steps_per_epoch);
    const TensorMap weights = shares_.whole(gathered.weights);
    Verdict verdict;
    verdict.exact = exact_step(shares_.model(), weights, images_, indices);
    report();
    const std::vector<at::Tensor> exact = flat_shares(verdict.exact.gradient);
    std::vector<double> distances;
    for (std::size_t rank = 0; rank < exact.size(); ++rank) {
      distances.push_back((gathered.gradients[rank] - exact[rank]).norm().item<double>());
      verdict.allowed.push_back(kRounding * exact[rank].norm().item<double>());
    }
    int sample = 0;
    for (; sample < most_samples_ && !within(distances, verdict.allowed); ++sample) {
      const auto seed = static_cast<std::uint64_t>(step * kMostSamples + sample);
      const std::vector<at::Tensor> moved =
          flat_shares(exact_step(shares_.model(), weights, images_, indices, seed).gradient);
      report();
      for (std::size_t rank = 0; rank < exact.size(); ++rank) {
        const double change = (moved[rank] - exact[rank]).norm().item<double>();
        verdict.allowed[rank] = std::max(verdict.allowed[rank], kSafety * change);
      }
    }
    if (!within(distances, verdict.allowed)) most_samples_ = kFewerSamples;
    return verdict;
  }

 private:
  static bool within(const std::vector<double>& distances, const std::vector<double>& allowed) {
    for (std::size_t rank = 0; rank < distances.size(); ++rank) {
      if (distances[rank] > allowed[rank]) return false;
    }
    return true;
  }

  std::vector<at::Tensor> flat_shares(const TensorMap& whole) const {
    std::vector<at::Tensor> all;
    for (int rank = 0; rank < shares_.num_ranks(); ++rank)
      all.push_back(shares_.flat(shares_.share_of(whole, rank), rank, true));
    return all;
  }

  const TrainingOptions& training_;
  const RankShares& shares_;
  const Images& images_;
  int most_samples_ = kMostSamples;
};

}  // namespace

StepsFound together(const std::vector<StepCheck>& checks, const std::vector<double>& losses) {
  StepsFound found;
  found.num_steps = checks.size();
  if (checks.empty()) return found;
  CombinedComparison gradients;
  double largest = 0;
  std::vector<double> own, expected;
  for (const StepCheck& check : checks) {
    gradients.add(check.gradient, 1);
    largest = check.gradient.relative_norm > largest ? check.gradient.relative_norm : largest;
    const auto step = static_cast<std::size_t>(check.step);
    own.push_back(step < losses.size() ? losses[step] : std::numeric_limits<double>::quiet_NaN());
    expected.push_back(check.expected_loss);
  }
  found.gradients = gradients.result();
  found.gradients.relative_norm = largest;
  if (!losses.empty()) found.losses = compare(at::tensor(own, at::kDouble), at::tensor(expected, at::kDouble), kLosses);
  return found;
}

std::vector<StepCheck> checks_of_epoch(const std::vector<StepCheck>& checks, std::int64_t epoch,
                                       std::int64_t steps_per_epoch) {
  std::vector<StepCheck> of_epoch;
  std::copy_if(checks.begin(), checks.end(), std::back_inserter(of_epoch),
               [&](const StepCheck& check) { return check.step / steps_per_epoch == epoch - 1; });
  return of_epoch;
}

StepRecorder::VersionOf version_of(const TrainingRun& run, int rank, int num_ranks, std::int64_t steps_per_epoch) {
  if (!run.is_stale()) return [](std::int64_t step) { return step; };
  return
      [=, late = staleness(run.pipeline.schedule, rank, num_ranks), every = run.checkpoint_every](std::int64_t step) {
        const std::int64_t epoch_begin = step - step % steps_per_epoch;
        const std::int64_t drained = every == 0 ? epoch_begin : std::max(epoch_begin, step - step % every);
        return std::max(drained, step - late);
      };
}

std::vector<StepCheck> check_steps(const TrainingRun& run, const Images& images, const StepRecorder& recorder,
                                   Communicator& comm) {
  const RankShares shares(run, comm.size());
  const std::vector<std::int64_t>& steps = recorder.steps();
  const auto checks_it = [&](std::size_t index) { return static_cast<int>(index) % comm.size(); };
  Collectives& collectives = comm.collectives();

  std::vector<GatheredStep> gathered(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const RecordedStep& own = recorder.recorded(steps[i]);
    const at::Tensor row =
        at::stack({shares.flat(own.weights, comm.rank(), false), shares.flat(own.gradient, comm.rank(), true)});
    const std::vector<at::Tensor> rows = collectives.all_gather(row.to(run.training.dtype));
    if (checks_it(i) != comm.rank()) continue;
    for (int rank = 0; rank < comm.size(); ++rank) {
      const at::Tensor both = rows[static_cast<std::size_t>(rank)].to(at::kDouble);
      gathered[i].weights.push_back(shares.from_flat(both[0], rank, false));
      gathered[i].gradients.push_back(both[1]);
    }
  }

  std::vector<Verdict> verdicts(steps.size());
  Checker checker(run, shares, images);
  comm::work_while_others_wait(collectives, [&](const comm::ReportProgress& report) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (checks_it(i) == comm.rank()) verdicts[i] = checker.check(steps[i], gathered[i], report);
    }
  });

  std::vector<StepCheck> checks;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    StepCheck check;
    check.step = steps[i];
    check.recorded = recorder.recorded(steps[i]);
    at::Tensor numbers = at::zeros({1 + comm.size()}, at::kDouble);
    TensorMap exact;
    const bool is_mine = checks_it(i) == comm.rank();
    if (is_mine) {
      numbers[0] = verdicts[i].exact.loss;
      numbers.narrow(0, 1, comm.size()).copy_(at::tensor(verdicts[i].allowed, at::kDouble));
      exact = verdicts[i].exact.gradient;
    }
    numbers = collectives.broadcast(numbers, checks_it(i));
    for (const LayerSpec& layer : shares.model().layers) {
      for (const ParameterSpec& spec : layer.parameters) {
        if (!spec.learns) continue;
        const at::Tensor mine = is_mine ? exact.at(spec.name) : at::empty(spec.shape, at::kDouble);
        exact[spec.name] = collectives.broadcast(mine.contiguous(), checks_it(i));
      }
    }
    check.expected_loss = numbers[0].item<double>();
    check.expected = shares.share_of(exact, comm.rank());
    const at::Tensor expected = shares.flat(check.expected, comm.rank(), true);
    const double norm = expected.norm().item<double>();
    check.allowed = norm > 0 ? numbers[comm.rank() + 1].item<double>() / norm : 0;
    check.gradient = compare(shares.flat(check.recorded.gradient, comm.rank(), true), expected,
                             {0, std::numeric_limits<double>::infinity(), check.allowed});
    checks.push_back(std::move(check));
  }
  return checks;
}

at::Tensor exact_logits(const TrainingRun& run, const TensorMap& own_weights, const Images& images,
                        Communicator& comm) {
  const RankShares shares(run, comm.size());
  std::vector<TensorMap> all;
  const std::vector<at::Tensor> rows = comm.collectives().all_gather(shares.flat(own_weights, comm.rank(), false));
  for (int rank = 0; rank < comm.size(); ++rank)
    all.push_back(shares.from_flat(rows[static_cast<std::size_t>(rank)], rank, false));
  Parameters parameters = zero_parameters(shares.model(), at::kDouble);
  assign(shares.model(), parameters, shares.whole(all));
  // The same number for each rank, so that all parts have the same shape; the last ones may repeat some.
  const std::int64_t num_each = (images.size() + comm.size() - 1) / comm.size();
  const at::Tensor mine = at::arange(num_each, at::kLong).add_(num_each * comm.rank()).clamp_max_(images.size() - 1);
  const Images part = {images.pixels.index_select(0, mine), images.labels.index_select(0, mine)};
  at::Tensor logits;
  comm::work_while_others_wait(comm.collectives(), [&](const comm::ReportProgress& report) {
    logits = batched_logits(
        part, at::kDouble,
        [&](const at::Tensor& x) { return run_layers(shares.model(), parameters, x, Mode::kEvaluation); }, report);
  });
  return at::cat(comm.collectives().all_gather(logits)).narrow(0, 0, images.size());
}

at::Tensor wrong_predictions(const at::Tensor& predictions, const at::Tensor& exact_logits) {
  const at::Tensor answered = exact_logits.gather(1, predictions.unsqueeze(1)).squeeze(1);
  const at::Tensor behind = std::get<0>(exact_logits.max(1)) - answered;
  return behind.gt(kRounding * std::get<0>(exact_logits.abs().max(1)));
}

}  // namespace lab::optc
