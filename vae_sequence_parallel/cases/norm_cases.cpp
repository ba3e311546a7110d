#include <c10/core/GradMode.h>

#include <algorithm>

#include "common/checks/case.h"
#include "common/comm/messages/ledger.h"
#include "common/comm/messages/model_time.h"
#include "common/tensor/seeded.h"
#include "vae_sequence_parallel/cases/cases.h"
#include "vae_sequence_parallel/cases/module_case.h"
#include "vae_sequence_parallel/layers.h"
#include "vae_sequence_parallel/moments.h"

namespace lab::vae {
namespace {

/// Wrong moments [B, G, 3] from those of each rank, [P, B, G, 3].
using WrongMoments = std::function<at::Tensor(const at::Tensor& of_ranks, int rank)>;

at::Tensor own_moments(const at::Tensor& of_ranks, int rank) {
  return of_ranks[rank];
}

/// The variance is the mean of variances, weighted by the number of values; the mean is right.
at::Tensor without_variance_of_means(const at::Tensor& of_ranks, int) {
  const at::Tensor n = of_ranks.select(-1, 0), all = n.sum(0);
  const at::Tensor mean = (n * of_ranks.select(-1, 1)).sum(0) / all;
  return at::stack({all, mean, of_ranks.select(-1, 2).sum(0)}, -1);
}

/// The same with equal weights for all ranks.
at::Tensor plain_averages(const at::Tensor& of_ranks, int) {
  const at::Tensor n = of_ranks.select(-1, 0), all = n.sum(0);
  const at::Tensor variance = (of_ranks.select(-1, 2) / n.clamp_min(1)).mean(0);
  return at::stack({all, of_ranks.select(-1, 1).mean(0), variance * all}, -1);
}

KnownMistake local_variance(const Case& test_case, const std::string& message, const WrongMoments& moments) {
  return {"local_variance", message, [inputs = test_case.inputs, moments](const CasePlace& place) {
            const c10::NoGradGuard no_grad;
            const CaseInputs own = inputs(place);
            std::vector<at::Tensor> of_ranks;
            for (int rank = 0; rank < place.size; ++rank)
              of_ranks.push_back(
                  local_moments(inputs({rank, place.size, place.seed}).tensor("input.x"), own.integer("groups")));
            const GroupStatistics statistics(moments(at::stack(of_ranks), place.rank), GroupNorm::kEpsilon);
            return TensorMap{{"out", normalized(own.tensor("input.x"), statistics, own.tensor("weight.weight"),
                                                own.tensor("weight.bias"))}};
          }};
}

/// The case of a GroupNorm with its outputs if the ranks' moments are combined wrongly: each rank's own only, or
/// averaged variances, which lack the variance of the ranks' means.
Case with_norm_suspects(Case test_case) {
  const char* averaged =
      "the variance of local means is missing: averaged variances of ranks are not the variance of all columns, as the "
      "means of ranks differ; merge n, mean and M2";
  test_case.known_mistakes = {
      local_variance(test_case, "every rank normalises by the mean and the variance of its own columns only",
                     own_moments),
      local_variance(test_case, averaged, without_variance_of_means),
      local_variance(test_case, averaged, plain_averages)};
  return test_case;
}

const char* const kNormTask = "vae.group_norm";

ModuleCase norm_case(const std::string& name, const ModuleUnderTest& module, const PictureSetup& picture) {
  ModuleCase test_case;
  test_case.task = kNormTask;
  test_case.name = name;
  test_case.module = module;
  test_case.picture = picture;
  return test_case;
}

/// The handout's 32x32.
Case norm_at_full_size(const std::string& name, std::int64_t groups, std::int64_t channels) {
  return with_norm_suspects(make_case(norm_case(name, group_norm_under_test(channels, groups), PictureSetup())));
}

PictureSetup small_picture(const Widths& widths, at::ScalarType dtype = at::kFloat) {
  PictureSetup picture;
  picture.channels = 8;
  picture.height = 9;
  picture.widths = widths;
  picture.dtype = dtype;
  return picture;
}

ModuleCase small_norm(const std::string& name, const PictureSetup& picture) {
  return norm_case(name, group_norm_under_test(picture.channels, 4), picture);
}

/// A mean of `ratio` times the deviation. Rounding of the mean itself, in float32, shows in the result.
Case large_mean(const std::string& name, double ratio, bool with_gradient = false) {
  PictureSetup picture = small_picture(spread(37));
  picture.mean = ratio;
  ModuleCase test_case = small_norm(name, picture);
  if (with_gradient) test_case.task = "vae.group_norm_gradient";
  test_case.with_gradient = with_gradient;
  Case result = with_norm_suspects(make_case(test_case));
  result.tolerance.relative_norm = 1e-6 + 1e-7 * ratio;
  result.tolerance.atol = 10 * result.tolerance.relative_norm;  // values are normal, none above 10
  return result;
}

/// A mean of 1e4 times the deviation: E[x^2] - E[x]^2 would lose 8 digits, as LibTorch's norm does. Expected is the norm
/// of the picture minus that mean.
Case uneven_in_float64() {
  PictureSetup picture = small_picture(rising_widths, at::kDouble);
  picture.mean = 1e4;
  Case result = with_norm_suspects(make_case(small_norm("GroupNormUnevenDouble", picture)));
  result.tolerance.relative_norm = 1e-11;
  result.expected = [picture, plain = result](const CasePlace& place) {
    TensorMap expected = plain.expected(place);
    const CaseInputs own = plain.inputs(place);
    const at::Tensor whole = make_picture(picture, place.size, place.seed) - picture.mean;
    const GroupStatistics statistics(local_moments(whole, own.integer("groups")), GroupNorm::kEpsilon);
    expected["out"] = normalized(own.tensor("input.x") - picture.mean, statistics, own.tensor("weight.weight"),
                                 own.tensor("weight.bias"));
    return expected;
  };
  return result;
}

/// A variance of about 1e-6, as small as epsilon.
Case small_spread() {
  PictureSetup picture = small_picture(spread(37));
  picture.deviation = 1e-3;
  return with_norm_suspects(make_case(small_norm("GroupNormEpsilon", picture)));
}

/// No value on any rank but the last, which has one of each group: its output is the bias. What is merged first are the
/// moments of nothing with those of nothing.
Case one_value() {
  PictureSetup picture;
  picture.batch = 1;
  picture.channels = 4;
  picture.height = 1;
  picture.dtype = at::kDouble;
  picture.deviation = 0.1;
  picture.widths = [](int size) {
    std::vector<std::int64_t> widths(static_cast<std::size_t>(size));
    widths.back() = 1;
    return widths;
  };
  return with_norm_suspects(make_case(small_norm("GroupNormOneValue", picture)));
}

/// A norm of moments. Its 14 operations for each of a rank's own values are enough for any way to take two passes for
/// the moments and one for the result, at most 10 operations, the reference 6; but not for those of 3 ranks' values.
ModuleCase costed_norm(const std::string& task, const std::string& name, const PictureSetup& picture) {
  ModuleCase test_case = small_norm(name, picture);
  test_case.task = task;
  test_case.costed = true;
  test_case.flops_per_value = 14;
  return test_case;
}

/// A rank may wait for twice as long as its all-gather takes, and an operation for each value, as some have a column
/// more; but not while the others do their work, which takes longer.
TimeBound time_of_moments(const ModuleCase& test_case, int size, std::uint64_t seed) {
  const comm::ModelRates rates;
  TimeBound bound{0, TimeBound::kAny};
  bound.max_waiting_ps = 0;
  for (int rank = 0; rank < size; ++rank) {
    const PictureCost cost = compute_cost(test_case, {rank, size, seed});
    const auto num_bytes = static_cast<std::int64_t>(cost.all_gather.bytes_received);
    const std::int64_t gather_ps =
        (size - 1) * (rates.latency_ps + 2 * rates.overhead_ps) + num_bytes * rates.ps_per_byte;
    bound.max_waiting_ps = std::max(bound.max_waiting_ps, 2 * gather_ps + cost.num_values * rates.ps_per_flop);
  }
  return bound;
}

Case moments_case() {
  PictureSetup picture = small_picture(spread(37));
  picture.batch = 3;
  picture.height = 1024;
  const ModuleCase test_case = costed_norm("vae.group_norm_moments", "GroupNormMoments", picture);
  Case result = make_case(test_case);
  result.time = [test_case](int size, std::uint64_t seed) { return time_of_moments(test_case, size, seed); };
  return result;
}

Case moments_gradient_case() {
  ModuleCase test_case =
      costed_norm("vae.group_norm_gradient", "GroupNormMomentsGradient", small_picture(spread(37), at::kDouble));
  test_case.with_gradient = true;
  return make_case(test_case);
}

/// All ranks have the same first column and different other ones: if mean and variance are bitwise the same, so are the
/// outputs of the first column. "first_column" is minus rank 0's.
Case same_everywhere() {
  const Widths four_each = [](int size) { return std::vector<std::int64_t>(static_cast<std::size_t>(size), 4); };
  const PictureSetup picture = small_picture(four_each, at::kDouble);
  const std::vector<std::int64_t> column_shape = {picture.batch, picture.channels, picture.height, 1};
  ModuleCase test_case = costed_norm("vae.group_norm_moments", "GroupNormSameEverywhere", picture);
  test_case.costs_of_call = [=](const CasePlace& place) {
    const std::int64_t num_bytes = at::zeros(column_shape, picture.dtype).nbytes();
    const LedgerEntry column = comm::nominal_cost("broadcast", place.size, num_bytes, place.rank == 0);
    return std::vector<CostBound>{make_bound(column, "broadcast")};
  };
  Case result = make_case(test_case);
  result.tolerance = {0, 0};
  const auto plain_inputs = result.inputs;
  result.inputs = [=](const CasePlace& place) {
    CaseInputs inputs = plain_inputs(place);
    const at::Tensor first_column = seeded_randn(column_shape, place.seed + 3, picture.dtype);
    inputs.tensors["input.x"].narrow(3, 0, 1).copy_(first_column);
    inputs.numbers["only_difference_of_first_column"] = 1;
    return inputs;
  };
  result.expected = [=](const CasePlace&) {
    return TensorMap{{"first_column", at::zeros(column_shape, picture.dtype)}};
  };
  return result;
}

}  // namespace

std::vector<Case> norm_cases() {
  return {norm_at_full_size("GroupNorm_32of128", 32, 128),
          norm_at_full_size("GroupNorm_16of256", 16, 256),
          norm_at_full_size("GroupNorm_8of512", 8, 512),
          after_wider(with_norm_suspects(make_case(small_norm("GroupNormUneven", small_picture(spread(37)))))),
          uneven_in_float64(),
          with_norm_suspects(make_case(small_norm("GroupNormEmptySlices", small_picture(gapped_widths)))),
          large_mean("GroupNormMean10", 10),
          large_mean("GroupNormMean100", 100),
          large_mean("GroupNormMean1000", 1000),
          small_spread(),
          one_value(),
          every_other_rank(with_norm_suspects(make_case(small_norm("GroupNormSubgroups", small_picture(spread(37)))))),
          moments_case(),
          same_everywhere()};
}

std::vector<Case> norm_gradient_cases() {
  ModuleCase in_float32 = small_norm("GroupNormGradient", small_picture(spread(37)));
  ModuleCase with_gaps = small_norm("GroupNormEmptySlicesGradient", small_picture(gapped_widths, at::kDouble));
  for (ModuleCase* test_case : {&in_float32, &with_gaps}) {
    test_case->task = "vae.group_norm_gradient";
    test_case->with_gradient = true;
  }
  return {with_norm_suspects(make_case(in_float32)), with_norm_suspects(make_case(with_gaps)),
          large_mean("GroupNormMean1000Gradient", 1000, true), moments_gradient_case()};
}

}  // namespace lab::vae
