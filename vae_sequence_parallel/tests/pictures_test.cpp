#include <limits>

#include "common/api/errors.h"
#include "common/tensor/seeded.h"
#include "common/testing/test.h"
#include "vae_sequence_parallel/model/picture_difference.h"
#include "vae_sequence_parallel/model/picture_tensor.h"

namespace lab::vae {
namespace {

/// A picture [1, width, 3] whose samples are the columns' numbers.
at::Tensor columns(std::int64_t width) {
  return at::arange(width).to(at::kByte).view({1, width, 1}).expand({1, width, 3}).contiguous();
}

/// The columns that a row of the model's input shows.
at::Tensor take_columns(const at::Tensor& input) {
  return input[0][0][0].add(1).mul(127.5).round().to(at::kLong);
}

at::Tensor longs(std::vector<std::int64_t> values) {
  return at::tensor(values, at::kLong);
}

TEST_CASE("picture tensor: there and back keeps every picture of every size") {
  for (const std::int64_t height : {1, 2, 3, 7, 8, 9, 17}) {
    for (const std::int64_t width : {1, 2, 5, 8, 15, 16}) {
      for (const std::int64_t multiple : {1, 2, 8, 32}) {
        const at::Tensor picture = seeded_rand({height, width, 3}, 3).mul(256).to(at::kByte);
        const at::Tensor input = to_model_input(picture, multiple);
        CHECK((input.scalar_type() == at::kFloat));
        CHECK(input.is_contiguous());
        CHECK(input.size(2) % multiple == 0);
        CHECK(input.size(3) % multiple == 0);
        CHECK(input.size(2) - height < multiple);
        CHECK(input.size(3) - width < multiple);
        CHECK(to_picture(input, height, width).equal(picture));
      }
    }
  }
}

TEST_CASE("picture tensor: all 256 values, and the ends of the range") {
  const at::Tensor input = to_model_input(columns(256), 1);
  CHECK(input.min().item<float>() == -1.0F);
  CHECK(input.max().item<float>() == 1.0F);
  CHECK(to_picture(input, 1, 256).equal(columns(256)));
}

TEST_CASE("picture tensor: channels come first, in order") {
  at::Tensor picture = at::zeros({2, 3, 3}, at::kByte);
  picture[1][2][0] = 255;
  const at::Tensor input = to_model_input(picture, 1);
  CHECK(input[0][0][1][2].item<float>() == 1.0F);
  CHECK(input.eq(1.0F).sum().item<std::int64_t>() == 1);
}

TEST_CASE("picture tensor: padding mirrors, back and forth where the picture is small") {
  CHECK(take_columns(to_model_input(columns(6), 8)).equal(longs({0, 1, 2, 3, 4, 5, 4, 3})));
  CHECK(take_columns(to_model_input(columns(3), 8)).equal(longs({0, 1, 2, 1, 0, 1, 2, 1})));
  CHECK(take_columns(to_model_input(columns(2), 8)).equal(longs({0, 1, 0, 1, 0, 1, 0, 1})));
  const at::Tensor one = to_model_input(at::full({1, 1, 3}, 9, at::kByte), 8);
  CHECK((one.sizes() == at::IntArrayRef({1, 3, 8, 8})));
  CHECK(take_columns(one).equal(at::full({8}, 9, at::kLong)));
}

TEST_CASE("picture tensor: where it can, the padding is LibTorch's own reflection") {
  const at::Tensor picture = seeded_rand({21, 13, 3}, 4).mul(256).to(at::kByte);
  const at::Tensor plain = to_model_input(picture, 1);
  CHECK(to_model_input(picture, 8).equal(at::reflection_pad2d(plain, {0, 3, 0, 3})));
}

TEST_CASE("picture tensor: values outside the range are limited, others rounded") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const at::Tensor row =
      at::tensor({-1.5F, 1.5F, nan, infinity, -infinity, -1.0F + 1.4F / 127.5F, -1.0F + 1.6F / 127.5F});
  const at::Tensor picture = to_picture(row.expand({1, 3, 1, 7}), 1, 7);
  CHECK(picture.select(2, 1).flatten().to(at::kLong).equal(longs({0, 255, 0, 255, 0, 1, 2})));
  CHECK(to_picture(row.to(at::kBFloat16).expand({1, 3, 1, 7}), 1, 2).size(1) == 2);
}

TEST_CASE("picture tensor: what is refused") {
  CHECK_THROWS_AS(to_model_input(at::zeros({2, 2, 3}), 8), ContractError);
  CHECK_THROWS_WITH_AS(to_model_input(columns(2), 0), "A picture is padded to a multiple of 1 or more, got 0.",
                       ContractError);
  CHECK_THROWS_WITH_AS(to_picture(at::zeros({1, 3, 8, 8}), 9, 8),
                       "A picture of 9 x 8 needs an image [1, 3, >= 9, >= 8] of floats, got float32 [1, 3, 8, 8].",
                       ContractError);
  CHECK_THROWS_AS(to_picture(at::zeros({1, 3, 8, 8}), 0, 8), ContractError);
  CHECK_THROWS_AS(to_picture(at::zeros({2, 3, 8, 8}), 8, 8), ContractError);
  CHECK_THROWS_AS(to_picture(at::zeros({1, 3, 8, 8}, at::kLong), 8, 8), ContractError);
  CHECK_THROWS_AS(to_picture(at::Tensor(), 8, 8), ContractError);
}

at::Tensor grey(std::int64_t value) {
  return at::full({4, 5, 3}, value, at::kByte);
}

TEST_CASE("picture difference: PSNR in closed form") {
  CHECK(psnr(grey(7), grey(7)) == std::numeric_limits<double>::infinity());
  CHECK(psnr(grey(0), grey(255)) == doctest::Approx(0.0));
  CHECK(psnr(grey(255), grey(0)) == doctest::Approx(0.0));
  CHECK(psnr(grey(7), grey(8)) == doctest::Approx(48.1308036));  // 20 log10(255)
  at::Tensor one = grey(7);
  one[3][4][2] = 17;  // one of 60 samples by 10: the mean square is 100 / 60
  CHECK(psnr(one, grey(7)) == doctest::Approx(45.9123161));
}

TEST_CASE("picture difference: differences are amplified, without sign, and limited") {
  at::Tensor other = grey(100);
  other[0][0][0] = 99;
  other[1][2][1] = 103;
  other[3][4][2] = 200;
  const at::Tensor drawn = difference_picture(grey(100), other, 20);
  CHECK(drawn.equal(difference_picture(other, grey(100), 20)));
  CHECK((drawn.scalar_type() == at::kByte));
  CHECK(drawn[0][0][0].item<int>() == 20);
  CHECK(drawn[1][2][1].item<int>() == 60);
  CHECK(drawn[3][4][2].item<int>() == 255);
  CHECK(drawn.ne(0).sum().item<std::int64_t>() == 3);
  CHECK(difference_picture(grey(0), grey(1), std::numeric_limits<std::int64_t>::max()).equal(grey(255)));
}

TEST_CASE("picture difference: samples that differ are counted by how much") {
  at::Tensor other = grey(100);
  other[0][0][0] = 99;
  other[1][2][1] = 101;
  other[3][4][2] = 102;
  const auto counts = sample_differences(grey(100), other);
  CHECK(counts.one_step == 2);
  CHECK(counts.more == 1);
  CHECK(counts.total == 60);
  CHECK(sample_differences(grey(0), grey(255)).more == 60);
  CHECK(sample_differences(grey(3), grey(3)).one_step == 0);
}

TEST_CASE("picture difference: what is refused") {
  const at::Tensor wide = at::zeros({5, 4, 3}, at::kByte);
  CHECK_THROWS_WITH_AS(psnr(grey(1), wide), "Expected pictures of one size, got [4, 5, 3] and [5, 4, 3].",
                       ContractError);
  CHECK_THROWS_AS(sample_differences(grey(1), at::zeros({4, 5, 3})), ContractError);
  CHECK_THROWS_AS(difference_picture(wide, grey(1), 2), ContractError);
  CHECK_THROWS_AS(difference_picture(grey(1), grey(1), 0), ContractError);
}

}  // namespace
}  // namespace lab::vae
