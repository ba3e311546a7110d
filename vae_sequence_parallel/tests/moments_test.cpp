#include "vae_sequence_parallel/moments.h"

#include "common/api/compare.h"
#include "common/tensor/seeded.h"
#include "common/testing/test.h"

namespace lab::vae {
namespace {

/// By definition, in float64.
at::Tensor expected_moments(const at::Tensor& x, std::int64_t num_groups) {
  const at::Tensor groups = x.to(at::kDouble).reshape({x.size(0), num_groups, -1});
  const at::Tensor mean = groups.mean(2, true);
  const at::Tensor n = at::full_like(mean, static_cast<double>(groups.size(2)));
  return at::cat({n, mean, (groups - mean).square().sum(2, true)}, 2);
}

/// Error bound of the mean, in standard deviations, and of M2, relative.
void check_moments(const at::Tensor& x, std::int64_t num_groups, double tolerance) {
  const at::Tensor actual = local_moments(x, num_groups), expected = expected_moments(x, num_groups);
  REQUIRE(actual.sizes() == expected.sizes());
  CHECK(actual.dtype() == at::kDouble);
  CHECK(at::equal(actual.select(2, 0), expected.select(2, 0)));
  const at::Tensor sigma = (expected.select(2, 2) / expected.select(2, 0)).sqrt();
  const at::Tensor mean_error = (actual.select(2, 1) - expected.select(2, 1)).abs() / sigma;
  const at::Tensor m2_error = actual.select(2, 2) / expected.select(2, 2) - 1;
  CHECK(mean_error.max().item<double>() < tolerance);
  CHECK(m2_error.abs().max().item<double>() < tolerance);
}

TEST_CASE("local_moments: of one chunk and of many, in any order in memory, for several pictures") {
  const std::vector<std::vector<std::int64_t>> shapes = {
      {1, 32, 1, 1}, {2, 8, 3, 5}, {1, 64, 40, 200}, {3, 32, 70, 33}, {1, 8, 2, 20000}};
  for (const std::vector<std::int64_t>& shape : shapes) {
    CAPTURE(shape);
    const at::Tensor x = seeded_randn(shape, 1, at::kDouble) + 3;
    const std::int64_t num_groups = shape[1] / 4;
    check_moments(x, num_groups, 1e-13);
    check_moments(x.contiguous(at::MemoryFormat::ChannelsLast), num_groups, 1e-13);
    check_moments(x.to(at::kFloat).contiguous(at::MemoryFormat::ChannelsLast), num_groups, 1e-6);
    check_moments(x.to(at::kFloat).transpose(2, 3), num_groups, 1e-6);
  }
}

TEST_CASE("local_moments: a mean that is large compared with the deviation costs no digits") {
  const at::Tensor noise = seeded_randn({1, 32, 60, 90}, 2);
  for (const double mean : {1.0, 10.0, 100.0, 1000.0, 10000.0}) {
    CAPTURE(mean);
    check_moments((noise + mean).contiguous(at::MemoryFormat::ChannelsLast), 8, 1e-6);
  }
}

TEST_CASE("local_moments: rows and channels that differ from the others, and float16") {
  at::Tensor x = seeded_randn({1, 32, 300, 40}, 3) + 5;
  x.narrow(2, 0, 1).fill_(-1000);
  x.narrow(2, 64, 3).fill_(700);
  x.narrow(1, 5, 1).mul_(100);
  check_moments(x.contiguous(at::MemoryFormat::ChannelsLast), 8, 1e-6);
  check_moments((x / 100).to(at::kHalf), 8, 1e-6);
}

TEST_CASE("local_moments: of equal values there is no spread, and of no columns nothing at all") {
  const at::Tensor equal = local_moments(at::full({1, 4, 30, 30}, 1e6F), 2);
  CHECK(at::allclose(equal.select(2, 1), at::full({1, 2}, 1e6, at::kDouble)));
  CHECK(at::allclose(equal.select(2, 2), at::zeros({1, 2}, at::kDouble)));
  CHECK(at::equal(local_moments(at::ones({3, 4, 5, 0}), 2), at::zeros({3, 2, 3}, at::kDouble)));
}

at::Tensor one_group(double n, double mean, double m2) {
  return at::tensor({n, mean, m2}, at::kDouble);
}

TEST_CASE("merged_moments: the example of the header, parts without values, and none with any") {
  CHECK(at::equal(merged_moments({one_group(1, 2, 0), one_group(3, 6, 6)}), one_group(4, 5, 18)));
  const at::Tensor nothing = one_group(0, 0, 0), some = one_group(3, 0.1, 0.7);
  CHECK(at::equal(merged_moments({nothing, some, nothing}), some));
  CHECK(at::equal(merged_moments({some}), some));
  CHECK(at::equal(merged_moments({nothing, nothing}), nothing));
}

TEST_CASE("merged_moments: of parts of any size, those of the whole; means that differ count as spread") {
  const at::Tensor x = seeded_randn({2, 12, 6, 31}, 4, at::kDouble) + at::linspace(0, 1e6, 31, at::kDouble);
  std::vector<at::Tensor> parts;
  for (const at::Tensor& part : x.split_with_sizes({1, 0, 17, 4, 9}, 3)) parts.push_back(local_moments(part, 3));
  const Tolerance tolerance = {1e-13, 0};
  CHECK(compare(merged_moments(parts), expected_moments(x, 3), tolerance).close);
}

}  // namespace
}  // namespace lab::vae
