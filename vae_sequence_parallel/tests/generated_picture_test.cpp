#include "vae_sequence_parallel/generated_picture.h"

#include <set>

#include "common/api/errors.h"
#include "common/tensor/files/crc32.h"
#include "common/tensor/files/picture.h"
#include "common/testing/test.h"
#include "vae_sequence_parallel/model/generated_leaf.h"

namespace {

using lab::vae::generated_picture;

std::string_view view_bytes(const at::Tensor& picture) {
  return {static_cast<const char*>(picture.data_ptr()), picture.nbytes()};
}

/// Luminance, [H, W], 0 to 1.
at::Tensor luminance(const at::Tensor& picture) {
  return picture.to(at::kDouble).div(255).matmul(at::tensor({0.299, 0.587, 0.114}, at::kDouble));
}

}  // namespace

TEST_CASE("generated picture: it follows from size and seed, to the last bit on every machine") {
  CHECK(generated_picture(48, 64, 3).equal(generated_picture(48, 64, 3)));
  CHECK(!generated_picture(48, 64, 3).equal(generated_picture(48, 64, 4)));
  CHECK(!generated_picture(48, 64, 3).equal(generated_picture(64, 48, 3).transpose(0, 1)));
  // Computed on the author's machine; another value elsewhere means a compiler that fuses, see the header.
  CHECK(lab::crc32(view_bytes(generated_picture(128, 128, 42))) == 2214554239u);
}

TEST_CASE("generated picture: every size is a picture") {
  for (const int64_t height : {1, 2, 7, 16, 33}) {
    for (const int64_t width : {1, 3, 8, 31}) {
      const at::Tensor picture = generated_picture(height, width, 5);
      lab::check_picture(picture);
      CHECK((picture.sizes() == at::IntArrayRef({height, width, 3})));
    }
  }
  lab::check_picture(generated_picture(1, 500, 6));
}

TEST_CASE("generated picture: bright and dark, many colours, more light than colour") {
  double luminance_spread = 0, colour_spread = 0;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    CAPTURE(seed);
    const at::Tensor picture = generated_picture(128, 128, seed);
    const at::Tensor light = luminance(picture);
    CHECK(light.mean().item<double>() > 0.15);
    CHECK(light.mean().item<double>() < 0.85);
    CHECK(light.std().item<double>() > 0.08);
    luminance_spread += light.std().item<double>();
    const at::Tensor channels = picture.to(at::kDouble).div(255);
    colour_spread += (channels.select(2, 0) - channels.select(2, 1)).std().item<double>();
    const at::Tensor codes = picture.to(at::kLong).matmul(at::tensor({65536, 256, 1}, at::kLong)).flatten();
    const auto* code = codes.data_ptr<int64_t>();
    CHECK(std::set<int64_t>(code, code + codes.numel()).size() > 1000);
  }
  CHECK(luminance_spread > 2 * colour_spread);
}

TEST_CASE("generated picture: flat regions and edges of all directions") {
  // In a photograph most neighbours are nearly equal and a few are far apart: the differences have a large kurtosis,
  // noise one of 3 or less.
  const at::Tensor light = luminance(generated_picture(256, 256, 9));
  for (const int64_t dim : {0, 1}) {
    const at::Tensor step = light.diff(1, dim);
    const at::Tensor centred = step - step.mean();
    const double variance = centred.square().mean().item<double>();
    CHECK(centred.pow(4).mean().item<double>() / (variance * variance) > 6.0);
    CHECK(step.abs().median().item<double>() < 0.02);
    CHECK(step.abs().max().item<double>() > 0.2);
  }
}

TEST_CASE("generated picture: sizes that are refused") {
  CHECK_THROWS_WITH_AS(generated_picture(0, 5, 1),
                       "A generated picture's height and width must be 1 to 16384, got 0 x 5.", lab::ContractError);
  CHECK_THROWS_AS(generated_picture(5, -1, 1), lab::ContractError);
  CHECK_THROWS_AS(generated_picture(16385, 1, 1), lab::ContractError);
}

TEST_CASE("generated random: within the bounds, and of the right mean and variance") {
  lab::vae::GeneratedRandom random(1);
  double sum = 0, squares = 0;
  uint32_t seen = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const float value = random.between(-2.0F, 3.0F);
    REQUIRE(value >= -2.0F);
    REQUIRE(value <= 3.0F);
    const uint32_t choice = random.below(5);
    REQUIRE(choice < 5);
    seen |= 1u << choice;
    const double normal = random.bell();
    sum += normal;
    squares += normal * normal;
  }
  CHECK(seen == 31u);
  // Six standard errors.
  CHECK(std::abs(sum / kDraws) < 6 / std::sqrt(kDraws));
  CHECK(std::abs(squares / kDraws - 1) < 6 * std::sqrt(2.0 / kDraws));
}
