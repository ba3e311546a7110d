#include "common/tensor/seeded.h"

#include <cmath>
#include <set>

#include "common/api/errors.h"
#include "common/testing/test.h"

TEST_CASE("seeded_randn and seeded_rand: torch.manual_seed's numbers, bitwise") {
  for (const uint64_t seed : {uint64_t{0}, uint64_t{42}, uint64_t{0xFFFFFFFF}}) {
    for (const int64_t size : {1, 15, 16, 17, 2048}) {
      for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kBFloat16}) {
        at::manual_seed(seed);
        CHECK(at::equal(lab::seeded_randn({size}, seed, dtype), at::randn({size}, dtype)));
        at::manual_seed(seed);
        CHECK(at::equal(lab::seeded_rand({size}, seed, dtype), at::rand({size}, dtype)));
      }
    }
  }
}

TEST_CASE("seeded_randn: PyTorch's own digits for seed 42") {
  // torch.manual_seed(42); torch.randn(3)
  const at::Tensor expected = at::tensor({0.33669036626815796, 0.12880940735340118, 0.23446236550807953}, at::kFloat);
  CHECK(at::equal(lab::seeded_randn({3}, 42), expected));
}

TEST_CASE("seeded: the default generator is neither read nor moved") {
  at::manual_seed(7);
  const at::Tensor undisturbed = at::randn({4});
  at::manual_seed(7);
  const at::Tensor first = lab::seeded_randn({100}, 3);
  lab::seeded_rand({100}, 3);
  at::Tensor weight = at::empty({4, 4});
  lab::init_linear_uniform(weight, 4, lab::make_generator(3));
  CHECK(at::equal(at::randn({4}), undisturbed));
  CHECK(at::equal(lab::seeded_randn({100}, 3), first));
}

TEST_CASE("make_generator: draws follow each other, and copies share the stream") {
  const at::Generator generator = lab::make_generator(42);
  const at::Tensor both = lab::seeded_randn({32}, 42);
  CHECK(at::equal(at::randn({16}, generator), both.slice(0, 0, 16)));
  const at::Generator copy = generator;  // NOLINT(performance-unnecessary-copy-initialization)
  CHECK(at::equal(at::randn({16}, copy), both.slice(0, 16, 32)));
}

TEST_CASE("seeded: every bit of a long seed counts, also the first 32") {
  constexpr uint64_t kSeed = 0x0123456789ABCDEF;
  const at::Tensor values = lab::seeded_rand({4}, kSeed);
  CHECK(at::equal(lab::seeded_rand({4}, kSeed), values));
  for (int bit = 0; bit < 64; ++bit) {
    CAPTURE(bit);
    CHECK_FALSE(at::equal(lab::seeded_rand({4}, kSeed ^ uint64_t{1} << bit), values));
  }
  // They are as evenly distributed as others.
  CHECK(std::abs(lab::seeded_rand({100'000}, kSeed, at::kDouble).mean().item<double>() - 0.5) < 0.005);
}

TEST_CASE("derived_seed: as long as the seed that it is derived from") {
  CHECK(lab::derived_seed(0xFFFFFFFF, 0x0123456789ABCDEF) == 0x89ABCDEF);
  CHECK(lab::derived_seed(0x100000000, 0x0123456789ABCDEF) == 0x0123456789ABCDEF);
}

TEST_CASE("rank_seed: no two of 4096 ranks share the 32 bits that LibTorch uses, nor do neighbouring seeds overlap") {
  std::set<uint32_t> low;
  for (int64_t rank = 0; rank < 4096; ++rank) low.insert(static_cast<uint32_t>(lab::rank_seed(42, rank)));
  CHECK(low.size() == 4096);
  std::set<uint64_t> seeds;
  for (uint64_t seed = 0; seed < 64; ++seed) {
    for (int64_t rank = 0; rank < 64; ++rank) seeds.insert(lab::rank_seed(seed, rank));
  }
  CHECK(seeds.size() == 64 * 64);
  CHECK(lab::rank_seed(42, 3) == lab::rank_seed(42, 3));
  CHECK(lab::rank_seed(42, 0) != 42);
  CHECK_THROWS_AS(lab::rank_seed(42, -1), lab::ContractError);
}

TEST_CASE("rank_seed: one more rank changes about half of the bits") {
  int64_t changed = 0;
  for (int64_t rank = 0; rank < 256; ++rank) {
    for (uint64_t bits = lab::rank_seed(1, rank) ^ lab::rank_seed(1, rank + 1); bits != 0; bits &= bits - 1) ++changed;
  }
  CHECK(changed > 256 * 30);
  CHECK(changed < 256 * 34);
}

TEST_CASE("rank_seed: ranks draw unrelated numbers") {
  const at::Tensor zero = lab::seeded_randn({1000}, lab::rank_seed(42, 0));
  const at::Tensor one = lab::seeded_randn({1000}, lab::rank_seed(42, 1));
  CHECK(std::abs((zero * one).mean().item<double>()) < 0.2);  // six standard deviations of an uncorrelated pair
}

TEST_CASE("init_linear_uniform: within and near 1/sqrt(fan_in), in place, gradient or not") {
  at::Tensor weight = at::empty({64, 100}).requires_grad_(true);
  lab::init_linear_uniform(weight, 100, lab::make_generator(5));
  CHECK(weight.detach().abs().max().item<double>() <= 0.1);
  CHECK(weight.detach().max().item<double>() > 0.099);
  CHECK(weight.detach().min().item<double>() < -0.099);
  CHECK(weight.requires_grad());
  CHECK_THROWS_AS(lab::init_linear_uniform(weight, 0, lab::make_generator(5)), lab::ContractError);
}
