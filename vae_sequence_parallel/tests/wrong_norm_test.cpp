#include "common/testing/test.h"
#include "vae_sequence_parallel/cases/case_pictures.h"
#include "vae_sequence_parallel/parallel_layers.h"
#include "vae_sequence_parallel/tests/wrong_modules.h"

// Each mistake with norms that the README warns about, as a wrong solution, and the case that finds it.
namespace lab::vae {
namespace {

/// Statistics of the groups of each picture, [B, G, 1].
struct Statistics {
  at::Tensor mean, variance;
};

struct GroupsOfRanks {
  /// Each rank's columns, [B, G, values], possibly none.
  std::vector<at::Tensor> of_rank;

  at::Tensor all() const { return at::cat(of_rank, 2); }
};

using StatisticsOf = std::function<Statistics(const GroupsOfRanks&, int rank)>;

Statistics statistics_of(const at::Tensor& groups) {
  const at::Tensor mean = groups.mean(2, true);
  return {mean, (groups - mean).square().mean(2, true)};
}

Statistics right(const GroupsOfRanks& groups, int) {
  return statistics_of(groups.all());
}

at::Tensor mean_of(const GroupsOfRanks& groups, const std::function<at::Tensor(const at::Tensor&)>& of_one) {
  std::vector<at::Tensor> each;
  for (const at::Tensor& one : groups.of_rank) each.push_back(of_one(one));
  return at::stack(each).mean(0);
}

/// A norm that knows all columns, and takes its statistics from `of`.
ModuleMaker norm_by(const StatisticsOf& of, double epsilon = GroupNorm::kEpsilon) {
  return [=](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
    const GroupNorm norm(weights, inputs.integer("channels"), inputs.integer("groups"));
    return [=, &comm](const WidthShard& x) {
      GroupsOfRanks groups;
      for (const at::Tensor& columns : gathered(x, comm).split_with_sizes(x.widths, 3))
        groups.of_rank.push_back(columns.contiguous().view({columns.size(0), norm.num_groups, -1}));
      const Statistics found = of(groups, comm.rank());
      const at::Tensor& own = groups.of_rank[static_cast<std::size_t>(comm.rank())];
      const at::Tensor normal = ((own - found.mean) / (found.variance + epsilon).sqrt()).view(x.columns.sizes());
      return WidthShard{normal * norm.weight.view({-1, 1, 1}) + norm.bias.view({-1, 1, 1}), x.widths};
    };
  };
}

TEST_CASE("right but for what it sends: statistics of the gathered picture") {
  for (const char* name : {"GroupNormUneven", "GroupNormMean1000", "GroupNormEpsilon", "GroupNorm_32of128"})
    CHECK(verdict(name, norm_by(right)) == "passed");
  CHECK(verdict("GroupNormGradient", norm_by(right)) == "passed");
  CHECK(verdict("GroupNormMoments", norm_by(right)) == "0 bytes received of all_gather, expected at least 576");
}

TEST_CASE("right but for what it sends: a mean by one all-reduce, then the squares by another") {
  const ModuleMaker make = [](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
    const GroupNorm norm(weights, inputs.integer("channels"), inputs.integer("groups"));
    return [=, &comm](const WidthShard& x) {
      const at::Tensor groups = x.columns.contiguous().view({x.columns.size(0), norm.num_groups, -1});
      const double share = static_cast<double>(x.columns.size(3)) / static_cast<double>(x.total_width());
      const auto mean_of_all = [&](const at::Tensor& values) {
        return comm.collectives().all_reduce((values.mean(2, true) * share).contiguous());
      };
      const at::Tensor centred = groups.to(at::kDouble) - mean_of_all(groups.to(at::kDouble));
      const at::Tensor normal = centred / (mean_of_all(centred.square()) + GroupNorm::kEpsilon).sqrt();
      return WidthShard{normal.to(x.columns.scalar_type()).view(x.columns.sizes()) * norm.weight.view({-1, 1, 1}) +
                            norm.bias.view({-1, 1, 1}),
                        x.widths};
    };
  };
  CHECK(verdict("GroupNormUneven", make) == "passed");
  CHECK(verdict("GroupNormMoments", make) == "2 calls of all_reduce, expected at most 0");
}

TEST_CASE("wrong: every rank normalises by its own columns") {
  const ModuleMaker make = norm_by([](const GroupsOfRanks& groups, int rank) {
    return statistics_of(groups.of_rank[static_cast<std::size_t>(rank)]);
  });
  for (const char* name : {"GroupNormUneven", "GroupNorm_8of512"}) {
    CHECK(verdict(name, make) == "mismatch");
    CHECK(symptom(name, make) == "local_variance");
  }
}

TEST_CASE("wrong: the ranks' variances averaged, without how their means differ") {
  const ModuleMaker make = norm_by([](const GroupsOfRanks& groups, int) {
    return Statistics{mean_of(groups, [](const at::Tensor& one) { return statistics_of(one).mean; }),
                      mean_of(groups, [](const at::Tensor& one) { return statistics_of(one).variance; })};
  });
  for (const char* name : {"GroupNormUneven", "GroupNorm_8of512", "GroupNormUnevenDouble"}) {
    CHECK(verdict(name, make) == "mismatch");
    CHECK(symptom(name, make) == "local_variance");
  }
}

TEST_CASE("wrong: every rank counts alike, however many columns it has; even widths hide it") {
  const ModuleMaker make = norm_by([](const GroupsOfRanks& groups, int) {
    const at::Tensor mean = mean_of(groups, [](const at::Tensor& one) { return one.mean(2, true); });
    return Statistics{mean,
                      mean_of(groups, [&](const at::Tensor& one) { return (one - mean).square().mean(2, true); })};
  });
  CHECK(verdict("GroupNorm_8of512", make) == "passed");
  CHECK(symptom("GroupNormUneven", make) != "local_variance");  // it is another mistake
  CHECK(verdict("GroupNormUneven", make) == "mismatch");
}

TEST_CASE("wrong: E[x^2] - E[x]^2 in float32; a small mean hides it") {
  const ModuleMaker make = norm_by([](const GroupsOfRanks& groups, int) {
    const at::Tensor all = groups.all(), mean = all.mean(2, true);
    return Statistics{mean, all.square().mean(2, true) - mean.square()};
  });
  CHECK(verdict("GroupNormUneven", make) == "passed");
  for (const char* name : {"GroupNormMean10", "GroupNormMean100", "GroupNormMean1000"})
    CHECK(verdict(name, make) == "mismatch");
}

TEST_CASE("wrong: PyTorch's epsilon, 1e-5; a large variance hides it almost") {
  CHECK(verdict("GroupNormEpsilon", norm_by(right, 1e-5)) == "mismatch");
  CHECK(verdict("GroupNormUneven", norm_by(right, 1e-5)) == "mismatch");
}

TEST_CASE("wrong: the sum of squares over n - 1") {
  CHECK(verdict("GroupNormUneven", norm_by([](const GroupsOfRanks& groups, int rank) {
                  Statistics found = right(groups, rank);
                  const auto n = static_cast<double>(groups.all().size(2));
                  return Statistics{found.mean, found.variance * (n / (n - 1))};
                })) == "mismatch");
}

TEST_CASE("wrong: a slice without columns, whose mean is not a number") {
  CHECK(verdict("GroupNormEmptySlices", norm_by([](const GroupsOfRanks& groups, int) {
                  const at::Tensor all = groups.all();
                  const at::Tensor mean = mean_of(groups, [&](const at::Tensor& one) {
                    return one.mean(2, true) *
                           (4.0 * static_cast<double>(one.size(2)) / static_cast<double>(all.size(2)));
                  });
                  return Statistics{mean, (all - mean).square().mean(2, true)};
                })) == "mismatch");
}

TEST_CASE("wrong: moments are merged beginning with the own ones; the ranks' statistics differ in their last bits") {
  const auto merged = [](bool own_first) {
    return norm_by([own_first](const GroupsOfRanks& groups, int rank) {
      const std::size_t size = groups.of_rank.size(), first = own_first ? static_cast<std::size_t>(rank) : 0;
      at::Tensor sum = at::zeros({1}, groups.of_rank[0].options());
      for (std::size_t i = 0; i < size; ++i) sum = sum + groups.of_rank[(first + i) % size].sum(2, true);
      const auto n = static_cast<double>(groups.all().size(2));
      return Statistics{sum / n, (groups.all() - sum / n).square().mean(2, true)};
    });
  };
  CHECK(verdict("GroupNormSameEverywhere", merged(false)) == "passed");
  CHECK(verdict("GroupNormSameEverywhere", merged(true)) == "mismatch");
  CHECK(verdict("GroupNormUnevenDouble", merged(true)) == "passed");
}

TEST_CASE("wrong: the gradient takes mean and variance for constants; outputs are right") {
  const ModuleMaker make = norm_by([](const GroupsOfRanks& groups, int rank) {
    const Statistics found = right(groups, rank);
    return Statistics{found.mean.detach(), found.variance.detach()};
  });
  CHECK(verdict("GroupNormUneven", make) == "passed");
  CHECK(verdict("GroupNormGradient", make) == "mismatch");
}

TEST_CASE("wrong: the gradient knows the own columns' part of the statistics only; outputs are right") {
  const ModuleMaker make = norm_by([](const GroupsOfRanks& groups, int rank) {
    GroupsOfRanks own_alone = groups;
    for (std::size_t i = 0; i < groups.of_rank.size(); ++i) {
      if (i != static_cast<std::size_t>(rank)) own_alone.of_rank[i] = groups.of_rank[i].detach();
    }
    return right(own_alone, rank);
  });
  CHECK(verdict("GroupNormUneven", make) == "passed");
  CHECK(verdict("GroupNormGradient", make) == "mismatch");
}

}  // namespace
}  // namespace lab::vae
