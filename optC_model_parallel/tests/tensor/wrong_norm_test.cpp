#include <functional>

#include "common/testing/test.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/sharded_layer.h"
#include "optC_model_parallel/parallel_functions.h"
#include "optC_model_parallel/parallel_layers.h"
#include "optC_model_parallel/tests/tensor/tensor_verdict.h"
#include "optC_model_parallel/tests/tensor/wrong_functions.h"

// Each mistake with norms of split features that the README warns of, as a wrong solution, and the case that catches
// it.
namespace lab::optc {
namespace {

/// A LayerNorm whose weight and bias are right.
TaskCall norm_call(const std::function<at::Tensor(const at::Tensor& x, Collectives& comm)>& normalize) {
  return sharded_layer_call(kWeightAndBias,
                            [=](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
                              return normalize(x, comm) * shards[0] + shards[1];
                            });
}

at::Tensor mean_of_all(const at::Tensor& x, Collectives& comm, RegionFunction sum = reduce_within_region) {
  return sum(x.mean(-1, true), comm) / comm.size();
}

at::Tensor normalized_by(const at::Tensor& x, const at::Tensor& mean, const at::Tensor& variance,
                         double epsilon = kNormEpsilon) {
  return (x - mean) * (variance + epsilon).rsqrt();
}

TEST_CASE("right: the mean of the ranks' means, as all have as many features") {
  const TaskCall call = norm_call([](const at::Tensor& x, Collectives& comm) {
    const at::Tensor mean = mean_of_all(x, comm);
    return normalized_by(x, mean, mean_of_all((x - mean).square(), comm));
  });
  for (const char* name : {"LayerNorm", "LayerNormLargeMean", "LayerNormGradient"}) CHECK(passes(name, call));
}

TEST_CASE("wrong: a LayerNorm of each rank's own features") {
  CHECK(differs("LayerNorm", norm_call([](const at::Tensor& x, Collectives&) {
                  return normalized_by(x, x.mean(-1, true), x.var(-1, false, true));
                })));
}

TEST_CASE("wrong: the ranks' variances averaged, without how their means differ") {
  CHECK(differs("LayerNorm", norm_call([](const at::Tensor& x, Collectives& comm) {
                  return normalized_by(x, mean_of_all(x, comm),
                                       reduce_within_region(x.var(-1, false, true), comm) / comm.size());
                })));
}

TEST_CASE("wrong: E[x^2] - E[x]^2; a small mean hides it") {
  const TaskCall call = norm_call([](const at::Tensor& x, Collectives& comm) {
    const at::Tensor mean = mean_of_all(x, comm);
    return normalized_by(x, mean, mean_of_all(x.square(), comm) - mean.square());
  });
  CHECK(passes("LayerNorm", call));
  CHECK(differs("LayerNormLargeMean", call));
}

TEST_CASE("wrong: the sum of squares over n - 1, another epsilon") {
  const auto norm_with = [](double factor, double epsilon) {
    return norm_call([=](const at::Tensor& x, Collectives& comm) {
      const at::Tensor mean = mean_of_all(x, comm);
      return normalized_by(x, mean, mean_of_all((x - mean).square(), comm) * factor, epsilon);
    });
  };
  CHECK(passes("LayerNorm", norm_with(1, kNormEpsilon)));
  CHECK(differs("LayerNorm", norm_with(24.0 / 23, kNormEpsilon)));
  CHECK(differs("LayerNorm", norm_with(1, 1e-6)));
}

TEST_CASE("wrong: statistics taken for constants, or only the own part of their gradient; outputs are right") {
  const auto norm_by = [](RegionFunction sum) {
    return norm_call([=](const at::Tensor& x, Collectives& comm) {
      const at::Tensor mean = mean_of_all(x, comm, sum);
      return normalized_by(x, mean, mean_of_all((x - mean).square(), comm, sum));
    });
  };
  for (const RegionFunction sum : {sum_without_graph, reduce_from_region}) {
    CHECK(passes("LayerNorm", norm_by(sum)));
    CHECK(differs("LayerNormGradient", norm_by(sum)));
  }
}

TEST_CASE("wrong: all features gathered for their statistics") {
  const TaskCall call = norm_call([](const at::Tensor& x, Collectives& comm) {
    const at::Tensor all = at::cat(comm.all_gather(x.contiguous()), -1);
    return normalized_by(x, all.mean(-1, true), all.var(-1, false, true));
  });
  CHECK(verdict_of("LayerNorm", call) == "1 calls of all_gather, expected at most 0");
}

TEST_CASE("wrong: the pair's hidden features gathered, so that every rank normalises all of them; numbers are right") {
  const TaskCall call = sharded_layer_call(
      kNormMlpTensors, [](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
        const auto gathered = [&](const at::Tensor& own) { return at::cat(comm.all_gather(own.contiguous()), -1); };
        const at::Tensor all = gathered(column_parallel_linear(x, shards[0], shards[1], false, comm));
        const at::Tensor normal =
            at::layer_norm(all, {all.size(-1)}, gathered(shards[2]), gathered(shards[3]), kNormEpsilon);
        const at::Tensor own = normal.chunk(comm.size(), -1)[static_cast<std::size_t>(comm.rank())];
        return row_parallel_linear(at::relu(own), shards[4], shards[5], comm);
      });
  CHECK(passes("ParallelNormMlp", call));
  CHECK(verdict_of("ColumnRowNorm", call) == "3 calls of all_gather, expected at most 0");
}

TEST_CASE("wrong: the pair's norm of each rank's own features, or after relu") {
  const auto norm_mlp_call = [](bool of_own, bool relu_first) {
    return sharded_layer_call(
        kNormMlpTensors, [=](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
          at::Tensor hidden = column_parallel_linear(x, shards[0], shards[1], false, comm);
          if (relu_first) hidden = at::relu(hidden);
          hidden = of_own ? at::layer_norm(hidden, {hidden.size(-1)}, shards[2], shards[3], kNormEpsilon)
                          : parallel_layer_norm(hidden, shards[2], shards[3], comm);
          if (!relu_first) hidden = at::relu(hidden);
          return row_parallel_linear(hidden, shards[4], shards[5], comm);
        });
  };
  CHECK(passes("ParallelNormMlpGradient", norm_mlp_call(false, false)));
  CHECK(differs("ParallelNormMlp", norm_mlp_call(true, false)));
  CHECK(differs("ParallelNormMlp", norm_mlp_call(false, true)));
}

}  // namespace
}  // namespace lab::optc
