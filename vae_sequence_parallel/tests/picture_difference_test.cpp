#include "vae_sequence_parallel/model/picture_difference.h"

#include <limits>

#include "common/base/errors.h"
#include "common/testing/test.h"

namespace {

using lab::vae::difference_picture;
using lab::vae::psnr;
using lab::vae::sample_differences;

at::Tensor grey(int64_t value) {
  return at::full({4, 5, 3}, value, at::kByte);
}

}  // namespace

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
  CHECK(drawn.ne(0).sum().item<int64_t>() == 3);
  CHECK(difference_picture(grey(0), grey(1), std::numeric_limits<int64_t>::max()).equal(grey(255)));
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
                       lab::ContractError);
  CHECK_THROWS_AS(sample_differences(grey(1), at::zeros({4, 5, 3})), lab::ContractError);
  CHECK_THROWS_AS(difference_picture(wide, grey(1), 2), lab::ContractError);
  CHECK_THROWS_AS(difference_picture(grey(1), grey(1), 0), lab::ContractError);
}
