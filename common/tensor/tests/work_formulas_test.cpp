
#include <vector>

#include "common/tensor/meters/work_table.h"
#include "common/testing/test.h"

// The formulas on arguments, without an operator that runs: what this LibTorch may not have.
namespace {

using Arguments = std::vector<c10::IValue>;

at::Tensor shaped(at::IntArrayRef sizes) {
  return at::empty(sizes, at::kMeta);
}

std::int64_t count_flops(const char* name, const Arguments& arguments) {
  const int row = lab::find_work_row(name);
  REQUIRE(row >= 0);
  return lab::work_table()[static_cast<std::size_t>(row)].flops(lab::WorkArguments(arguments.data(), arguments.size()));
}

const std::vector<std::int64_t> kNone;

}  // namespace

TEST_CASE("work formulas: fused attention counts as the products that it stands for") {
  const at::Tensor query = shaped({2, 3, 5, 7});
  const at::Tensor key = shaped({2, 3, 11, 7});
  const at::Tensor value = shaped({2, 3, 11, 7});
  CHECK(count_flops("aten::_scaled_dot_product_flash_attention_for_cpu",
                    {query, key, value, 0.0, false, c10::IValue(), c10::IValue()}) == 4 * 2 * 3 * 5 * 11 * 7);
  CHECK(count_flops("aten::_scaled_dot_product_flash_attention_for_cpu_backward",
                    {shaped({2, 3, 5, 7}), query, key, value, query, shaped({2, 3, 5}), 0.0, false, c10::IValue(),
                     c10::IValue()}) == 10 * 2 * 3 * 5 * 11 * 7);
  const at::Tensor wide = shaped({2, 3, 11, 13});
  CHECK(count_flops("aten::_scaled_dot_product_efficient_attention", {query, key, wide}) ==
        2 * 2 * 3 * 5 * 11 * (7 + 13));
  CHECK(count_flops("aten::_scaled_dot_product_efficient_attention_backward",
                    {shaped({2, 3, 5, 13}), query, key, wide}) == 2 * 2 * 3 * 5 * 11 * (3 * 7 + 2 * 13));
}

TEST_CASE("work formulas: mkldnn_linear is a product, with the additions of a bias") {
  CHECK(count_flops("aten::mkldnn_linear", {shaped({2, 3, 5}), shaped({7, 5}), c10::IValue()}) == 2 * 2 * 3 * 5 * 7);
  CHECK(count_flops("aten::mkldnn_linear", {shaped({2, 3, 5}), shaped({7, 5}), shaped({7})}) ==
        2 * 2 * 3 * 5 * 7 + 2 * 3 * 7);
}

TEST_CASE("work formulas: convolutions of a backend of its own have no sizes of the bias") {
  const Arguments backward = {shaped({2, 6, 9}),
                              shaped({2, 4, 11}),
                              shaped({6, 4, 3}),
                              std::vector<std::int64_t>{1},
                              std::vector<std::int64_t>{0},
                              std::vector<std::int64_t>{1},
                              false,
                              std::vector<std::int64_t>{0},
                              std::int64_t{1},
                              c10::List<bool>({true, true, true})};
  const std::int64_t products = 2 * 2 * 9 * 6 * 4 * 3;
  CHECK(count_flops("aten::convolution_backward_overrideable", backward) == 2 * products + 2 * 6 * 9);
  Arguments forward = {shaped({2, 4, 11}), shaped({6, 4, 3}), c10::IValue()};
  forward.insert(forward.end(), backward.begin() + 3, backward.begin() + 9);
  CHECK(count_flops("aten::convolution_overrideable", forward) == products);
}

TEST_CASE("work formulas: one stride may stand for all spatial dims") {
  const std::vector<std::int64_t> one = {1};
  const Arguments forward = {
      shaped({1, 2, 9, 7}),         shaped({3, 2, 3, 3}), c10::IValue(), std::vector<std::int64_t>{2}, one, one, false,
      std::vector<std::int64_t>{0}, std::int64_t{1}};
  CHECK(count_flops("aten::convolution", forward) == 2 * (5 * 4) * (3 * 2 * 9));
}

TEST_CASE("work formulas: missing, undefined and refused arguments have a count, without an error") {
  CHECK(count_flops("aten::mm", {shaped({2, 3})}) == 0);
  CHECK(count_flops("aten::mm", {}) == 0);
  CHECK(count_flops("aten::mm", {at::Tensor(), shaped({2, 3})}) == 0);
  CHECK(count_flops("aten::add", {2.0, 3.0}) == 0);
  CHECK(count_flops("aten::convolution", {shaped({2, 3})}) == 0);
  CHECK(count_flops("aten::convolution", {shaped({1, 2, 9}), shaped({3, 2, 3, 3}), c10::IValue(), kNone, kNone, kNone,
                                          false, kNone, std::int64_t{1}}) == 0);
  CHECK(count_flops("aten::convolution", {shaped({1, 2, 9}), shaped({3, 2, 3}), c10::IValue(), kNone, kNone, kNone,
                                          false, kNone, std::int64_t{1}}) == 2 * 7 * 3 * 2 * 3);
  CHECK(count_flops("aten::convolution_backward", {shaped({1}), shaped({1}), shaped({1})}) == 0);
  CHECK(count_flops("aten::_scaled_dot_product_flash_attention_for_cpu", {shaped({1})}) == 0);
}

TEST_CASE("work formulas: an empty tensor broadcast with one element is empty") {
  CHECK(count_flops("aten::add", {shaped({0}), shaped({1})}) == 0);
  CHECK(count_flops("aten::add", {shaped({4, 1}), shaped({3})}) == 12);
  CHECK(count_flops("aten::add", {shaped({}), shaped({})}) == 1);
}
