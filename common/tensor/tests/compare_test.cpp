#include "common/api/compare.h"

#include <cmath>
#include <limits>

#include "common/api/errors.h"
#include "common/testing/test.h"

namespace lab {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

at::Tensor doubles(std::vector<double> values, at::ScalarType dtype = at::kFloat) {
  return at::tensor(values, at::kDouble).to(dtype);
}

Tolerance only_norm(double relative_norm) {
  return {0, kInfinity, relative_norm};
}

TEST_CASE("compare: the tolerance is relative to expected, the second argument") {
  const Tolerance tolerance{0.1, 0.0};
  CHECK(compare(doubles({100}), doubles({111}), tolerance).close);
  CHECK_FALSE(compare(doubles({111}), doubles({100}), tolerance).close);
  CHECK(compare(doubles({5}), doubles({4}), Tolerance{0.0, 1.0}).close);
  CHECK_FALSE(compare(doubles({5.001}), doubles({4}), Tolerance{0.0, 1.0}).close);
}

TEST_CASE("compare: differences are those of float32 arithmetic, as Python prints them") {
  const at::Tensor actual = doubles({0.1, 0.2, 0.7});
  const at::Tensor expected = doubles({0.1, 0.3, 0.1});
  const Comparison found = compare(actual, expected);
  CHECK_FALSE(found.close);
  CHECK(found.max_diff == static_cast<double>(0.7f - 0.1f));
  CHECK(found.mean_diff == (actual - expected).abs().mean().item<double>());
  CHECK(found.max_diff != 0.7 - 0.1);
}

TEST_CASE("compare: equal tensors") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kShort,
                                     at::kChar, at::kByte, at::kBool, at::kComplexFloat}) {
    const at::Tensor x = at::arange(6, at::kFloat).view({2, 3}).to(dtype);
    const Comparison found = compare(x, x.clone());
    CHECK(found.close);
    CHECK(found.max_diff == 0);
    CHECK(found.mean_diff == 0);
    CHECK(found.relative_norm == 0);
    CHECK_FALSE(first_difference(x, x.clone()).has_value());
  }
}

TEST_CASE("compare: NaN never matches, on either side or on both") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kComplexFloat}) {
    const at::Tensor nan = doubles({1, kNaN, 3}, dtype);
    const at::Tensor number = doubles({1, 2, 3}, dtype);
    for (const auto& [actual, expected] : {std::pair{nan, number}, std::pair{number, nan}, std::pair{nan, nan}}) {
      const Comparison found = compare(actual, expected, {1e9, 1e9});
      CHECK_FALSE(found.close);
      CHECK(std::isnan(found.max_diff));
      CHECK(std::isnan(found.mean_diff));
      CHECK(std::isnan(found.relative_norm));
      CHECK_FALSE(compare(actual, expected, only_norm(1e9)).close);
      const auto first = first_difference(actual, expected);
      REQUIRE(first.has_value());
      CHECK(first->index[0] == 1);
    }
  }
  CHECK(std::isnan(compare(doubles({kNaN}), doubles({0})).relative_norm));
}

TEST_CASE("compare: equal infinities match, others do not") {
  const Comparison equal = compare(doubles({kInfinity, -kInfinity, 1}), doubles({kInfinity, -kInfinity, 1}));
  CHECK(equal.close);
  CHECK(equal.max_diff == 0);
  CHECK(equal.mean_diff == 0);
  CHECK(equal.relative_norm == 0);
  CHECK_FALSE(compare(doubles({kInfinity}), doubles({-kInfinity})).close);
  CHECK_FALSE(compare(doubles({kInfinity}), doubles({1}), {1e9, kInfinity}).close);
  CHECK_FALSE(compare(doubles({1}), doubles({kInfinity}), {1e9, kInfinity}).close);
  CHECK(compare(doubles({1}), doubles({kInfinity})).max_diff == kInfinity);
}

TEST_CASE("compare: an equal infinity does not hide the relative norm of the rest") {
  const Comparison found = compare(doubles({-kInfinity, 2}), doubles({-kInfinity, 1}));
  CHECK_FALSE(found.close);
  CHECK(found.relative_norm == 1);
}

TEST_CASE("compare: relative norm") {
  CHECK(compare(doubles({3, 4.5}), doubles({3, 4})).relative_norm == 0.1);
  CHECK(compare(doubles({0, 0}), doubles({0, 0})).relative_norm == 0);
  CHECK(compare(doubles({1e-9, 0}), doubles({0, 0})).relative_norm == kInfinity);
  // Squares of these overflow, or vanish.
  CHECK(compare(doubles({2e300}, at::kDouble), doubles({1e300}, at::kDouble)).relative_norm == doctest::Approx(1));
  CHECK(compare(doubles({2e-300}, at::kDouble), doubles({1e-300}, at::kDouble)).relative_norm == doctest::Approx(1));
}

TEST_CASE("compare: a relative norm in the tolerance is one more condition") {
  const at::Tensor expected = doubles({1e-7, 1e-7});
  const at::Tensor twice = doubles({2e-7, 2e-7});
  CHECK(compare(twice, expected).close);  // accepted by atol alone
  CHECK_FALSE(compare(twice, expected, {1e-5, 1e-5, 1e-3}).close);
  CHECK(compare(twice, expected, {1e-5, 1e-5, 1.01}).close);
  CHECK_FALSE(compare(doubles({1e-9}), doubles({0}), {1e-5, 1e-5, 1e-3}).close);
  CHECK(compare(doubles({0}), doubles({0}), {1e-5, 1e-5, 1e-3}).close);
  // Alone: one element far off in a large tensor.
  CHECK(compare(doubles({1e6, 1}), doubles({1e6, 0}), only_norm(1e-5)).close);
  CHECK_FALSE(compare(doubles({1e6, 1}), doubles({1e6, 0})).close);
}

TEST_CASE("compare: empty tensors match with zeros, also through first_difference") {
  const Comparison found = compare(at::zeros({0, 3}), at::zeros({0, 3}));
  CHECK(found.close);
  CHECK(found.max_diff == 0);
  CHECK(found.mean_diff == 0);
  CHECK(found.relative_norm == 0);
  CHECK_FALSE(first_difference(at::zeros({0, 3}), at::zeros({0, 3})).has_value());
}

TEST_CASE("compare: a different shape or dtype, or an undefined tensor, is an error that names both") {
  CHECK_THROWS_WITH_AS(compare(at::zeros({2, 3}), at::zeros({3, 2})),
                       "The tensors cannot be compared: expected float32 [3, 2], got float32 [2, 3].", ContractError);
  CHECK_THROWS_WITH_AS(compare(at::zeros({2}), at::zeros({2}, at::kDouble)),
                       "The tensors cannot be compared: expected float64 [2], got float32 [2].", ContractError);
  CHECK_THROWS_WITH_AS(compare(at::Tensor(), at::zeros({2})),
                       "The tensors cannot be compared: expected float32 [2], got undefined tensor.", ContractError);
  CHECK_THROWS_AS(compare(at::Tensor(), at::Tensor()), ContractError);
  // Shapes that would broadcast, and empty ones.
  CHECK_THROWS_AS(compare(at::zeros({1}), at::zeros({4})), ContractError);
  CHECK_THROWS_AS(compare(at::zeros({0, 3}), at::zeros({0, 2})), ContractError);
  CHECK_THROWS_AS(first_difference(at::zeros({1}), at::zeros({4})), ContractError);
}

TEST_CASE("compare: bfloat16 and float16 differences are not rounded to their dtype") {
  // 257 has no bfloat16, so the difference computed in bfloat16 would be 256.
  const Comparison brain = compare(doubles({256}, at::kBFloat16), doubles({-1}, at::kBFloat16));
  CHECK(brain.max_diff == 257);
  const Comparison half = compare(doubles({60000}, at::kHalf), doubles({-60000}, at::kHalf));
  CHECK(half.max_diff == 120000);
  CHECK(compare(doubles({1.0}, at::kBFloat16), doubles({1.0078125}, at::kBFloat16), {0.01, 0}).close);
  CHECK_FALSE(compare(doubles({1.0}, at::kBFloat16), doubles({1.0078125}, at::kBFloat16)).close);
}

TEST_CASE("compare: integers match only if equal, and their distance does not overflow") {
  const int64_t lowest = std::numeric_limits<int64_t>::lowest();
  const int64_t highest = std::numeric_limits<int64_t>::max();
  const Comparison far = compare(at::tensor({highest, int64_t{0}}), at::tensor({lowest, int64_t{0}}));
  CHECK_FALSE(far.close);
  CHECK(far.max_diff == 18446744073709551615.0);
  CHECK(far.mean_diff == 18446744073709551615.0 / 2);
  // Within rtol of 1e-5, and equal as doubles.
  CHECK_FALSE(compare(at::tensor({int64_t{1} << 53}), at::tensor({(int64_t{1} << 53) + 1})).close);
  CHECK(compare(doubles({0, 255}, at::kByte), doubles({255, 0}, at::kByte)).max_diff == 255);
  CHECK(compare(doubles({3, 4}, at::kInt), doubles({0, 0}, at::kInt)).relative_norm == kInfinity);
  CHECK(compare(doubles({6, 8}, at::kInt), doubles({3, 4}, at::kInt)).relative_norm == 1);
}

TEST_CASE("compare: bool") {
  const Comparison found = compare(doubles({1, 0, 1, 1}, at::kBool), doubles({1, 1, 1, 0}, at::kBool));
  CHECK_FALSE(found.close);
  CHECK(found.max_diff == 1);
  CHECK(found.mean_diff == 0.5);
}

TEST_CASE("compare: complex numbers by real and imaginary part") {
  const at::Tensor expected = at::complex(doubles({1, 2}), doubles({3, 4}));
  const at::Tensor actual = at::complex(doubles({1, 2}), doubles({3, 6}));
  CHECK(compare(actual, expected).max_diff == 2);
  CHECK(compare(expected.conj(), at::complex(doubles({1, 2}), doubles({-3, -4}))).close);
  CHECK(first_difference(actual, expected)->index == std::vector<int64_t>{1, 1});
}

TEST_CASE("compare: tensors that require a gradient or are not contiguous") {
  at::Tensor weight = at::arange(6, at::kFloat).view({2, 3});
  const at::Tensor transposed = weight.t().contiguous().t();
  CHECK(compare(weight.requires_grad_(true), transposed).close);
  CHECK(compare(at::ones({1}, at::kLong).expand({5}), at::ones({5}, at::kLong)).close);
  CHECK(compare(transposed.to(at::kInt), weight.detach().to(at::kInt)).close);
}

TEST_CASE("first_difference: index and values of the first element in row-major order") {
  at::Tensor expected = at::zeros({2, 3, 4});
  at::Tensor actual = expected.clone();
  actual[1][2][0] = 9;
  actual[1][0][3] = 0.1f;
  const auto first = first_difference(actual, expected);
  REQUIRE(first.has_value());
  CHECK(first->index == std::vector<int64_t>{1, 0, 3});
  CHECK(first->expected == "0");
  CHECK(first->actual == "0.1");
}

TEST_CASE("first_difference: no digit is lost, and a scalar has an empty index") {
  const auto large =
      first_difference(at::scalar_tensor(9007199254740993, at::kLong), at::scalar_tensor(9007199254740992, at::kLong));
  REQUIRE(large.has_value());
  CHECK(large->index.empty());
  CHECK(large->actual == "9007199254740993");
  CHECK(large->expected == "9007199254740992");
  const auto flag = first_difference(doubles({1, 1}, at::kBool), doubles({1, 0}, at::kBool));
  REQUIRE(flag.has_value());
  CHECK(flag->expected == "False");
  CHECK(flag->actual == "True");
}

TEST_CASE("compare: a large tensor, compared in pieces, gives the same result as in one") {
  const int64_t numel = (int64_t{1} << 24) + 5;  // ends in a piece that is not full
  const at::Tensor expected = at::arange(numel, at::kFloat).remainder(1000) - 500;
  CHECK(compare(expected.clone(), expected, {0, 0, 0}).close);

  at::Tensor actual = expected.clone();
  actual.narrow(0, numel - 1, 1).add_(1);
  actual.narrow(0, 7, 1).sub_(3);
  const Comparison found = compare(actual, expected, only_norm(1e-6));
  const double norm = expected.to(at::kDouble).norm().item<double>();
  CHECK(found.max_diff == 3);
  CHECK(found.mean_diff == doctest::Approx(4.0 / static_cast<double>(numel)));
  CHECK(found.relative_norm == doctest::Approx(std::sqrt(10.0) / norm));
  CHECK(found.close == (found.relative_norm <= 1e-6));
  CHECK_FALSE(compare(actual, expected, only_norm(found.relative_norm / 2)).close);
  CHECK_FALSE(compare(actual, expected, {0, 2}).close);  // the elements count, too

  actual.narrow(0, 11, 1).fill_(kNaN);
  const Comparison with_nan = compare(actual, expected, only_norm(1e9));
  CHECK_FALSE(with_nan.close);
  CHECK(std::isnan(with_nan.max_diff));
  CHECK(std::isnan(with_nan.relative_norm));

  // An equal infinity hides nothing; and a piece of zeros counts for what it should.
  at::Tensor zeros = at::zeros({numel});
  zeros.narrow(0, 3, 1).fill_(kInfinity);
  at::Tensor other = zeros.clone();
  CHECK(compare(other, zeros, only_norm(0)).close);
  other.narrow(0, numel - 1, 1).fill_(1);
  CHECK(compare(other, zeros).relative_norm == kInfinity);
}

TEST_CASE("combined: nothing added is close") {
  const Comparison all = CombinedComparison().result();
  CHECK(all.close);
  CHECK(all.max_diff == 0);
  CHECK(all.mean_diff == 0);
}

TEST_CASE("combined: the worst of each, and the mean over all elements") {
  CombinedComparison combined;
  combined.add({true, 3, 1, 0.5}, 2);
  combined.add({true, 2, 2, 0.75}, 6);
  const Comparison all = combined.result();
  CHECK(all.close);
  CHECK(all.max_diff == 3);
  CHECK(all.mean_diff == (2 * 1 + 6 * 2) / 8.0);
  CHECK(all.relative_norm == 0.75);
  combined.add({false, 0, 0, 0}, 1);
  CHECK_FALSE(combined.result().close);
}

TEST_CASE("combined: NaN stays, wherever it comes, and so does a missing tensor") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const bool first : {true, false}) {
    CombinedComparison combined;
    if (first) combined.add({false, nan, nan, nan}, 1);
    combined.add({true, 1, 1, 1}, 1);
    if (!first) combined.add_missing(1);
    const Comparison all = combined.result();
    CHECK_FALSE(all.close);
    CHECK(std::isnan(all.max_diff));
    CHECK(std::isnan(all.mean_diff));
    CHECK(std::isnan(all.relative_norm));
  }
}

}  // namespace
}  // namespace lab
