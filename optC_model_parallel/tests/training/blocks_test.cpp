#include "optC_model_parallel/model/blocks.h"

#include <cmath>

#include "common/api/compare.h"
#include "common/tensor/seeded.h"
#include "common/testing/test.h"

// The parts that tensor parallelism splits, compared with explicit loops and sums.
namespace lab::optc {
namespace {

/// Rounding of sums of a few dozen terms in float64, in another order.
constexpr Tolerance kRounding{1e-12, 1e-12};

at::Tensor random(at::IntArrayRef shape, std::uint64_t seed) {
  return seeded_randn(shape, seed, at::kDouble);
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return x.matmul(weight.t()) + bias;
}

TEST_CASE("mlp: linear, relu, linear") {
  const Tensors t = {random({5, 3}, 1), random({5}, 2), random({4, 5}, 3), random({4}, 4)};
  const at::Tensor x = random({2, 7, 3}, 5);
  const at::Tensor expected = linear(linear(x, t[0], t[1]).clamp_min(0), t[2], t[3]);
  CHECK(compare(serial_blocks().mlp(x, t), expected, kRounding).close);
}

TEST_CASE("norm_mlp: each image's features have mean 0 and deviation 1 before weight, bias, and relu") {
  const Tensors t = {random({6, 3}, 1), random({6}, 2),    random({6}, 3),
                     random({6}, 4),    random({4, 6}, 5), random({4}, 6)};
  const at::Tensor x = random({7, 3}, 7);
  const at::Tensor h = linear(x, t[0], t[1]);
  const at::Tensor centred = h - h.mean(1, /*keepdim=*/true);
  const at::Tensor variance = centred.square().mean(1, /*keepdim=*/true);
  const at::Tensor normed = centred / (variance + 1e-5).sqrt() * t[2] + t[3];
  CHECK(compare(serial_blocks().norm_mlp(x, t), linear(normed.clamp_min(0), t[4], t[5]), kRounding).close);
}

TEST_CASE("attention: each head by itself, query by query") {
  constexpr std::int64_t kImages = 2, kPlaces = 5, kHeads = 3, kHeadDim = 2, kWidth = kHeads * kHeadDim;
  Tensors t;
  for (std::uint64_t i = 0; i < 3; ++i) t.push_back(random({kWidth, kWidth}, 10 + i));
  for (std::uint64_t i = 0; i < 3; ++i) t.push_back(random({kWidth}, 20 + i));
  t.push_back(random({kWidth, kWidth}, 30));
  t.push_back(random({kWidth}, 31));
  const at::Tensor x = random({kImages, kPlaces, kWidth}, 1);
  const at::Tensor q = linear(x, t[0], t[3]), k = linear(x, t[1], t[4]), v = linear(x, t[2], t[5]);
  const at::Tensor mixed = at::zeros_like(x);
  for (std::int64_t image = 0; image < kImages; ++image) {
    for (std::int64_t head = 0; head < kHeads; ++head) {
      for (std::int64_t place = 0; place < kPlaces; ++place) {
        const at::Tensor query = q[image][place].narrow(0, head * kHeadDim, kHeadDim);
        at::Tensor sum = at::zeros({kHeadDim}, at::kDouble);
        double all = 0;
        for (std::int64_t other = 0; other < kPlaces; ++other) {
          const at::Tensor key = k[image][other].narrow(0, head * kHeadDim, kHeadDim);
          const double weight = std::exp(query.dot(key).item<double>() / std::sqrt(2.0));
          sum += weight * v[image][other].narrow(0, head * kHeadDim, kHeadDim);
          all += weight;
        }
        mixed[image][place].narrow(0, head * kHeadDim, kHeadDim).copy_(sum / all);
      }
    }
  }
  CHECK(compare(serial_blocks().attention(x, t, kHeadDim), linear(mixed, t[6], t[7]), kRounding).close);
}

TEST_CASE("residual: training normalises by the batch and moves the running statistics; evaluation goes by them") {
  const Tensors t = {random({4, 3, 3, 3}, 1), random({4}, 2),          random({4}, 3), random({4}, 4),
                     random({4}, 5).square(), random({3, 4, 3, 3}, 6), random({3}, 7)};
  const at::Tensor mean_before = t[3].clone(), variance_before = t[4].clone();
  const at::Tensor x = random({5, 3, 6, 6}, 8);
  const at::Tensor h = at::conv2d(x, t[0], {}, 1, 1);
  const auto channels = [](const at::Tensor& of_channel) { return of_channel.view({1, -1, 1, 1}); };
  const auto rest = [&](const at::Tensor& mean, const at::Tensor& variance) {
    const at::Tensor normed =
        (h - channels(mean)) / channels((variance + 1e-5).sqrt()) * channels(t[1]) + channels(t[2]);
    return at::conv2d(normed.clamp_min(0), t[5], t[6], 1, 1);
  };

  const at::Tensor by_running = serial_blocks().residual(x, t, Mode::kEvaluation);
  CHECK(compare(by_running, rest(mean_before, variance_before), kRounding).close);
  CHECK(t[3].equal(mean_before));
  CHECK(t[4].equal(variance_before));

  const at::Tensor by_batch = serial_blocks().residual(x, t, Mode::kTraining);
  const at::Tensor mean = h.mean(at::IntArrayRef{0, 2, 3});
  const at::Tensor squares = (h - channels(mean)).square().sum(at::IntArrayRef{0, 2, 3});
  const double count = 5 * 6 * 6;
  CHECK(compare(by_batch, rest(mean, squares / count), kRounding).close);
  // The running variance uses the unbiased one, like nn::BatchNorm2d.
  CHECK(compare(t[3], 0.9 * mean_before + 0.1 * mean, kRounding).close);
  CHECK(compare(t[4], 0.9 * variance_before + 0.1 * squares / (count - 1), kRounding).close);
}

}  // namespace
}  // namespace lab::optc
