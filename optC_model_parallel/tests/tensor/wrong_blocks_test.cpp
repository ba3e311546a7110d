#include <cmath>

#include "common/testing/test.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/sharded_layer.h"
#include "optC_model_parallel/parallel_functions.h"
#include "optC_model_parallel/parallel_layers.h"
#include "optC_model_parallel/tests/tensor/tensor_verdict.h"

// Each mistake with split attention and split residual blocks that the README warns of, as a wrong solution, and the
// case that catches it.
namespace lab::optc {
namespace {

/// Attention with switches for the usual mistakes.
struct AttentionVariant {
  enum class Enter { kOnce, kForEach, kNever } enter = Enter::kOnce;
  enum class Heads { kRows, kInterleaved, kOne } heads = Heads::kRows;
  double scale = 1;  ///< on top of 1 / sqrt(head_dim)
  bool softmax_over_queries = false;

  at::Tensor split(const at::Tensor& features, std::int64_t head_dim) const {
    const std::int64_t batch = features.size(0), tokens = features.size(1);
    if (heads == Heads::kOne) return features.unsqueeze(1);
    if (heads == Heads::kInterleaved) return features.view({batch, tokens, head_dim, -1}).permute({0, 3, 1, 2});
    return features.view({batch, tokens, -1, head_dim}).transpose(1, 2);
  }

  at::Tensor forward(const at::Tensor& x, const Tensors& shards, std::int64_t head_dim, Collectives& comm) const {
    const at::Tensor once = enter == Enter::kOnce ? copy_to_region(x, comm) : x;
    const auto heads_of = [&](std::size_t which) {
      const at::Tensor in = enter == Enter::kForEach ? copy_to_region(x, comm) : once;
      return split(at::linear(in, shards[which], shards[which + 3]), head_dim);
    };
    const at::Tensor q = heads_of(0), k = heads_of(1), v = heads_of(2);
    const at::Tensor scores = at::matmul(q, k.transpose(-1, -2)) * (scale / std::sqrt(static_cast<double>(head_dim)));
    const at::Tensor found = at::matmul(scores.softmax(softmax_over_queries ? -2 : -1), v);
    // However the heads were split, they are joined in rows.
    return row_parallel_linear(found.transpose(1, 2).flatten(2), shards[6], shards[7], comm);
  }
};

TaskCall attention_call(const AttentionVariant& variant) {
  return sharded_layer_call(
      kAttentionTensors, [=](const at::Tensor& x, const Tensors& shards, const CaseInputs& inputs, Collectives& comm) {
        return variant.forward(x, shards, inputs.integer("head_dim"), comm);
      });
}

TEST_CASE("right: attention as the reference has it") {
  CHECK(passes("ParallelAttentionGradient", attention_call({})));
}

TEST_CASE("wrong: attention scaled by the width, the rank's part of it, or not at all") {
  for (const double dim : {24.0, 6.0, 1.0}) {
    AttentionVariant variant;
    variant.scale = std::sqrt(3.0 / dim);
    CHECK(differs("ParallelAttention", attention_call(variant)));
  }
}

TEST_CASE("wrong: heads of every second feature; one head of all the rank's features") {
  AttentionVariant variant;
  variant.heads = AttentionVariant::Heads::kInterleaved;
  CHECK(differs("ParallelAttention", attention_call(variant)));
  variant.heads = AttentionVariant::Heads::kOne;
  CHECK(differs("ParallelAttention", attention_call(variant)));
}

TEST_CASE("wrong: softmax over the queries") {
  AttentionVariant variant;
  variant.softmax_over_queries = true;
  CHECK(differs("ParallelAttention", attention_call(variant)));
}

TEST_CASE("wrong: x enters three times; numbers are right") {
  AttentionVariant variant;
  variant.enter = AttentionVariant::Enter::kForEach;
  CHECK(passes("ParallelAttention", attention_call(variant)));
  CHECK(verdict_of("ParallelAttentionGradient", attention_call(variant)) ==
        "4 calls of all_reduce, expected at most 2");
}

TEST_CASE("wrong: x never enters; outputs are right") {
  AttentionVariant variant;
  variant.enter = AttentionVariant::Enter::kNever;
  CHECK(passes("ParallelAttention", attention_call(variant)));
  CHECK(differs("ParallelAttentionGradient", attention_call(variant)));
}

/// A residual block with switches for the usual mistakes.
struct ResidualVariant {
  bool through_f = true;
  enum class Bias { kOnce, kOnEveryRank, kNever } bias = Bias::kOnce;
  enum class Norm { kOwnChannels, kSummed, kCopiedStatistics, kAlwaysTraining } norm = Norm::kOwnChannels;
  double momentum = kBatchNormMomentum;

  at::Tensor forward(const at::Tensor& x, const Tensors& shards, Mode mode, Collectives& comm) const {
    const at::Tensor in = through_f ? copy_to_region(x, comm) : x;
    const at::Tensor middle = at::conv2d(in, shards[0], {}, 1, 1);
    const bool training = mode == Mode::kTraining || norm == Norm::kAlwaysTraining;
    const bool copied = norm == Norm::kCopiedStatistics;
    at::Tensor normal = at::batch_norm(middle, shards[1], shards[2], copied ? shards[3].clone() : shards[3],
                                       copied ? shards[4].clone() : shards[4], training, momentum, kNormEpsilon, false);
    if (norm == Norm::kSummed) {  // channels are not shared: there is nothing to sum up
      const at::Tensor mean = reduce_within_region(middle.mean({0, 2, 3}, true), comm) / comm.size();
      const at::Tensor variance =
          reduce_within_region((middle - mean).square().mean({0, 2, 3}, true), comm) / comm.size();
      normal =
          (middle - mean) * (variance + kNormEpsilon).rsqrt() * shards[1].view({-1, 1, 1}) + shards[2].view({-1, 1, 1});
    }
    const at::Tensor own_bias = bias == Bias::kOnEveryRank ? shards[6] : at::Tensor();
    const at::Tensor out = reduce_from_region(at::conv2d(at::relu(normal), shards[5], own_bias, 1, 1), comm);
    return bias == Bias::kOnce ? out + shards[6].view({-1, 1, 1}) : out;
  }
};

TaskCall residual_call(const ResidualVariant& variant) {
  return sharded_layer_call(
      kResidualTensors, [=](const at::Tensor& x, const Tensors& shards, const CaseInputs& inputs, Collectives& comm) {
        return variant.forward(x, shards, inputs.integer("training") != 0 ? Mode::kTraining : Mode::kEvaluation, comm);
      });
}

TEST_CASE("right: a residual block as the reference has it") {
  for (const char* name : {"ParallelResidualGradient", "ParallelResidualEvaluationGradient"})
    CHECK(passes(name, residual_call({})));
}

TEST_CASE("wrong: a residual block whose bias counts P times, or never") {
  for (const auto bias : {ResidualVariant::Bias::kOnEveryRank, ResidualVariant::Bias::kNever}) {
    ResidualVariant variant;
    variant.bias = bias;
    CHECK(differs("ParallelResidual", residual_call(variant)));
  }
}

TEST_CASE("wrong: BatchNorm's statistics summed over ranks, though each has its own channels") {
  ResidualVariant variant;
  variant.norm = ResidualVariant::Norm::kSummed;
  CHECK(differs("ParallelResidual", residual_call(variant)));
  CHECK(verdict_of("ParallelResidual", residual_call(variant), 1) == "3 calls of all_reduce, expected at most 1");
}

TEST_CASE("wrong: running statistics that never change, or by another momentum; outputs are right") {
  ResidualVariant variant;
  variant.norm = ResidualVariant::Norm::kCopiedStatistics;
  CHECK(differs("ParallelResidual", residual_call(variant)));
  CHECK(passes("ParallelResidualEvaluation", residual_call(variant)));
  variant = ResidualVariant();
  variant.momentum = 0.9;
  CHECK(differs("ParallelResidual", residual_call(variant)));
}

TEST_CASE("wrong: the batch's statistics in evaluation, too") {
  ResidualVariant variant;
  variant.norm = ResidualVariant::Norm::kAlwaysTraining;
  CHECK(passes("ParallelResidual", residual_call(variant)));
  CHECK(differs("ParallelResidualEvaluation", residual_call(variant)));
}

TEST_CASE("wrong: a residual block without f; outputs are right") {
  ResidualVariant variant;
  variant.through_f = false;
  CHECK(passes("ParallelResidual", residual_call(variant)));
  CHECK(differs("ParallelResidualGradient", residual_call(variant)));
}

}  // namespace
}  // namespace lab::optc
