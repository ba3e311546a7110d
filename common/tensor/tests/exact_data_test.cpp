#include "common/tensor/exact_data.h"

#include <limits>
#include <set>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/testing/test.h"

namespace {

const std::vector<at::ScalarType> kAll = {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong,
                                          at::kInt,    at::kShort, at::kChar, at::kByte,     at::kBool};
const std::vector<at::ScalarType> kFloating = {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16};
const std::vector<at::ScalarType> kSixtyFour = {at::kDouble, at::kFloat, at::kLong, at::kInt};

std::vector<int64_t> numbers(const at::Tensor& tensor) {
  const at::Tensor values = tensor.to(at::kLong).contiguous();
  return {values.data_ptr<int64_t>(), values.data_ptr<int64_t>() + values.numel()};
}

/// The sum of all ranks, added one by one in the dtype itself.
at::Tensor sum_of_ranks(int64_t num_ranks, at::ScalarType dtype, bool backwards) {
  at::Tensor sum = at::zeros({64}, dtype);
  for (int64_t i = 0; i < num_ranks; ++i) {
    sum.add_(lab::exact_values_for_rank({64}, dtype, 3, backwards ? num_ranks - 1 - i : i));
  }
  return sum;
}

}  // namespace

TEST_CASE("exact_values: integers that fill their range, and no others") {
  for (const at::ScalarType dtype : kAll) {
    const lab::ExactRange range = lab::exact_range(dtype);
    const at::Tensor values = lab::exact_values({300, 300}, dtype, 1);
    CHECK(lab::dtype_name(values.scalar_type()) == lab::dtype_name(dtype));
    CHECK(values.sizes() == at::IntArrayRef({300, 300}));
    CHECK(values.to(at::kLong).min().item<int64_t>() == range.lowest);
    CHECK(values.to(at::kLong).max().item<int64_t>() == range.highest);
    CHECK(at::equal(values.to(at::kLong).to(dtype), values));
  }
}

TEST_CASE("exact_range: max_terms of the largest value, and max_products of its square, are still integers apart") {
  // A dtype with d digits holds every integer up to 2^d.
  const std::vector<std::pair<at::ScalarType, int>> digits = {
      {at::kDouble, 53}, {at::kFloat, 24}, {at::kHalf, 11}, {at::kBFloat16, 8}};
  for (const auto& [dtype, num_digits] : digits) {
    const lab::ExactRange range = lab::exact_range(dtype);
    CHECK(range.max_terms * range.highest <= int64_t{1} << num_digits);
    CHECK(range.max_products * range.highest * range.highest <= int64_t{1} << num_digits);
    const at::Tensor largest = at::scalar_tensor(range.max_terms * range.highest, at::kDouble);
    CHECK(at::equal((largest - 1).to(dtype).to(at::kDouble), largest - 1));
  }
}

TEST_CASE("exact_values: sums over many ranks are exact in every order") {
  for (const at::ScalarType dtype : kFloating) {
    const int64_t num_ranks = std::min<int64_t>(1024, lab::exact_range(dtype).max_terms);
    at::Tensor exact = at::zeros({64}, at::kLong);
    for (int64_t rank = 0; rank < num_ranks; ++rank) {
      exact += lab::exact_values_for_rank({64}, dtype, 3, rank).to(at::kLong);
    }
    CHECK(at::equal(sum_of_ranks(num_ranks, dtype, false).to(at::kLong), exact));
    CHECK(at::equal(sum_of_ranks(num_ranks, dtype, true).to(at::kLong), exact));
    CHECK(exact.ne(exact[0]).any().item<bool>());
  }
}

TEST_CASE("exact_values: small matrix products are exact") {
  const at::Tensor left = lab::exact_values({16, 512}, at::kFloat, 1);
  const at::Tensor right = lab::exact_values({512, 8}, at::kFloat, 2);
  const at::Tensor product = at::matmul(left, right);
  CHECK(at::equal(product.to(at::kDouble), at::matmul(left.to(at::kDouble), right.to(at::kDouble))));
  at::Tensor halves = at::zeros({16, 8});
  for (int64_t k = 0; k < 512; k += 64) halves += at::matmul(left.slice(1, k, k + 64), right.slice(0, k, k + 64));
  CHECK(at::equal(halves, product));
}

TEST_CASE("exact_values: the first 8 elements of the first 8 ranks are 64 numbers") {
  for (const at::ScalarType dtype : kSixtyFour) {
    for (uint64_t seed = 0; seed < 50; ++seed) {
      std::set<int64_t> seen;
      for (int64_t rank = 0; rank < 8; ++rank) {
        for (const int64_t value : numbers(lab::exact_values_for_rank({8}, dtype, seed, rank))) seen.insert(value);
      }
      CHECK(seen.size() == 64);
    }
  }
}

TEST_CASE("exact_values: 8 ranks differ at every position where the range is wide") {
  for (const at::ScalarType dtype : {at::kDouble, at::kFloat, at::kLong, at::kInt, at::kShort, at::kChar, at::kByte}) {
    std::vector<at::Tensor> ranks;
    for (int64_t rank = 0; rank < 8; ++rank) ranks.push_back(lab::exact_values_for_rank({3000}, dtype, 9, rank));
    for (size_t i = 0; i < 8; ++i) {
      for (size_t j = 0; j < i; ++j) CHECK(ranks[i].ne(ranks[j]).all().item<bool>());
    }
  }
}

TEST_CASE("exact_values: another rank's values do not follow from one's own by an offset or a shift") {
  // What holds between two ranks of one seed, as their difference here or as one's place in the other's order, must not
  // hold under another seed.
  const auto differences = [](uint64_t seed) {
    const at::Tensor own = lab::exact_values_for_rank({127}, at::kFloat, seed, 0).to(at::kLong);
    return (lab::exact_values_for_rank({127}, at::kFloat, seed, 1).to(at::kLong) - own).remainder(127);
  };
  const auto shifts = [](uint64_t seed) {
    const at::Tensor own = lab::exact_values_for_rank({127}, at::kFloat, seed, 0);
    const at::Tensor other = lab::exact_values_for_rank({127}, at::kFloat, seed, 1);
    const at::Tensor found = other.unsqueeze(1).eq(own.unsqueeze(0)).to(at::kLong).argmax(1);
    return (found - at::arange(127)).remainder(127);
  };
  for (const auto& relation : {at::stack({differences(1), differences(2)}), at::stack({shifts(1), shifts(2)})}) {
    for (int64_t seed = 0; seed < 2; ++seed) {
      CHECK(std::get<0>(at::_unique(relation[seed])).numel() > 60);  // of 127 drawn at random, about 80 differ
    }
    CHECK(relation[0].eq(relation[1]).sum().item<int64_t>() < 10);  // about 1 agrees
  }
}

TEST_CASE("exact_values: no two ranks are alike, whatever the dtype") {
  for (const at::ScalarType dtype : kAll) {
    for (int64_t i = 1; i < 8; ++i) {
      for (int64_t j = 0; j < i; ++j) {
        CHECK_FALSE(
            at::equal(lab::exact_values_for_rank({40}, dtype, 1, i), lab::exact_values_for_rank({40}, dtype, 1, j)));
      }
    }
  }
}

TEST_CASE("exact_values: permuted chunks are detected") {
  for (const at::ScalarType dtype : kAll) {
    const bool narrow = lab::exact_range(dtype).highest - lab::exact_range(dtype).lowest < 30;
    for (const int64_t chunk : {1, 2, 16, 31, 64, 127, 128, 254, 1000}) {
      if (narrow && chunk < 64) continue;
      const at::Tensor values = lab::exact_values({8 * chunk}, dtype, 4);
      for (int64_t i = 1; i < 8; ++i) {
        for (int64_t j = 0; j < i; ++j) {
          CHECK_FALSE(
              at::equal(values.slice(0, i * chunk, (i + 1) * chunk), values.slice(0, j * chunk, (j + 1) * chunk)));
        }
      }
    }
  }
}

TEST_CASE("exact_values: the sum over P ranks depends on the position, for every P") {
  for (const at::ScalarType dtype : kFloating) {
    for (int64_t num_ranks = 1; num_ranks <= 8; ++num_ranks) {
      const at::Tensor sum = sum_of_ranks(num_ranks, dtype, false);
      CHECK(sum.ne(sum[0]).any().item<bool>());
    }
  }
}

TEST_CASE("exact_values: the seed decides; rank 0 is the plain call") {
  const at::Tensor values = lab::exact_values({50}, at::kFloat, 1);
  CHECK(at::equal(values, lab::exact_values({50}, at::kFloat, 1)));
  CHECK(at::equal(values, lab::exact_values_for_rank({50}, at::kFloat, 1, 0)));
  CHECK_FALSE(at::equal(values, lab::exact_values({50}, at::kFloat, 2)));
  CHECK(lab::exact_values({0, 3}, at::kFloat, 1).numel() == 0);
  CHECK(lab::exact_values({}, at::kFloat, 1).dim() == 0);
}

TEST_CASE("exact_values: of many ranks at once, each is as if drawn alone") {
  for (const at::ScalarType dtype : kAll) {
    const std::vector<at::Tensor> ranks = lab::exact_values_of_ranks({3, 101}, dtype, 9, 2, 5);
    REQUIRE(ranks.size() == 5);
    for (int64_t i = 0; i < 5; ++i)
      CHECK(at::equal(ranks[static_cast<size_t>(i)], lab::exact_values_for_rank({3, 101}, dtype, 9, 2 + i)));
  }
  CHECK_THROWS_AS(lab::exact_values_of_ranks({2}, at::kFloat, 1, 0, 0), lab::ContractError);
}

TEST_CASE("exact_values: refusals") {
  CHECK_THROWS_WITH_AS(lab::exact_values({2}, at::kComplexFloat, 1), "There are no exact values of dtype complex64.",
                       lab::ContractError);
  CHECK_THROWS_AS(lab::exact_values_for_rank({2}, at::kFloat, 1, -1), lab::ContractError);
}

TEST_CASE("poison_: fills the tensor itself, with what no result contains") {
  for (const at::ScalarType dtype : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kComplexFloat}) {
    at::Tensor tensor = at::zeros({2, 3}, dtype);
    CHECK(lab::poison_(tensor).is_same(tensor));
    CHECK(tensor.isnan().all().item<bool>());
  }
  const auto filled = [](at::ScalarType dtype) { return lab::poison_(at::zeros({3}, dtype)).to(at::kLong); };
  CHECK(filled(at::kLong).eq(std::numeric_limits<int64_t>::lowest()).all().item<bool>());
  CHECK(filled(at::kInt).eq(std::numeric_limits<int32_t>::lowest()).all().item<bool>());
  CHECK(filled(at::kShort).eq(-32768).all().item<bool>());
  CHECK(filled(at::kChar).eq(-128).all().item<bool>());
  CHECK(filled(at::kByte).eq(255).all().item<bool>());
  CHECK(filled(at::kBool).eq(1).all().item<bool>());
}

TEST_CASE("poison_: a view poisons only what it shows, and a parameter stays one") {
  at::Tensor whole = at::zeros({4, 4});
  lab::poison_(whole.slice(1, 1, 3));
  CHECK(whole.isnan().sum().item<int64_t>() == 8);
  at::Tensor parameter = at::zeros({2}).requires_grad_(true);
  CHECK(lab::poison_(parameter).requires_grad());
}

TEST_CASE("only_part: a copy with one part of a dimension, the rest poisoned") {
  const at::Tensor whole = at::arange(12, at::kFloat).view({3, 4});
  const at::Tensor left = lab::only_part(whole, -1, {1, 2});
  CHECK(at::equal(left.narrow(1, 1, 2), whole.narrow(1, 1, 2)));
  CHECK(left.isnan().sum().item<int64_t>() == 6);
  CHECK(lab::only_part(whole, 0, {3, 0}).isnan().all().item<bool>());
  CHECK_FALSE(whole.isnan().any().item<bool>());
}
