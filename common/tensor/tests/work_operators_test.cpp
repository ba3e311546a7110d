#include <c10/core/GradMode.h>

#include "common/tensor/tests/measure_work.h"

// What each kind of operator counts, forward and backward.
namespace {

using lab_test::ByOperator;
using lab_test::flops_in;
using lab_test::measure_work;
using lab_test::tracked;

TEST_CASE("work of operators: products of matrices and vectors") {
  const at::Tensor a = at::ones({2, 3});
  const at::Tensor b = at::ones({3, 4});
  const at::Tensor u = at::ones({3});
  CHECK(measure_work([&] { at::mm(a, b); }).by_operator == ByOperator{{"aten::mm", 48}});
  CHECK(measure_work([&] { at::mv(a, u); }).by_operator == ByOperator{{"aten::mv", 12}});
  CHECK(measure_work([&] { at::dot(u, u); }).by_operator == ByOperator{{"aten::dot", 6}});
  CHECK(measure_work([&] {
          at::bmm(at::ones({5, 2, 3}), at::ones({5, 3, 4}));
        }).by_operator == ByOperator{{"aten::bmm", 240}});
  at::Tensor result = at::empty({0});
  CHECK(flops_in([&] { at::mm_out(result, a, b); }) == 48);
  CHECK(flops_in([&] { at::mm(at::ones({2, 0}), at::ones({0, 4})); }) == 0);
}

TEST_CASE("work of operators: an addend is added once per element of the result, unless beta is 0") {
  const at::Tensor a = at::ones({2, 3});
  const at::Tensor b = at::ones({3, 4});
  const at::Tensor a5 = at::ones({5, 2, 3});
  const at::Tensor b5 = at::ones({5, 3, 4});
  CHECK(measure_work([&] { at::addmm(at::ones({4}), a, b); }).by_operator == ByOperator{{"aten::addmm", 48 + 8}});
  CHECK(flops_in([&] { at::addmm(at::ones({4}), a, b, 0); }) == 48);
  CHECK(measure_work([&] { at::ones({2, 4}).addmm_(a, b); }).by_operator == ByOperator{{"aten::addmm_", 48 + 8}});
  CHECK(flops_in([&] { at::baddbmm(at::ones({4}), a5, b5); }) == 240 + 40);
  CHECK(flops_in([&] { at::addbmm(at::ones({2, 4}), a5, b5); }) == 240 + 8);
  CHECK(flops_in([&] { at::addmv(at::ones({2}), a, at::ones({3})); }) == 12 + 2);
  CHECK(flops_in([&] { at::addr(at::ones({2, 3}), at::ones({2}), at::ones({3})); }) == 3 * 6);
  // As the product and the addition do.
  CHECK(flops_in([&] { at::mm(a, b) + at::ones({4}); }) == 48 + 8);
}

TEST_CASE("work of operators: a linear layer counts three products, forward and backward") {
  constexpr std::int64_t d = 16;
  const at::Tensor x = tracked({8, d});
  const at::Tensor weight = tracked({4 * d, d});
  const at::Tensor bias = tracked({4 * d});
  at::Tensor y;
  constexpr std::int64_t product = 2 * 8 * d * 4 * d;
  constexpr std::int64_t num_y = 8 * 4 * d;
  CHECK(flops_in([&] { y = at::linear(x, weight); }) == product);
  CHECK(flops_in([&] { y.backward(at::ones_like(y)); }) == 2 * product);
  CHECK(flops_in([&] { y = at::linear(x, weight, bias); }) == product + num_y);
  x.mutable_grad() = at::Tensor();
  weight.mutable_grad() = at::Tensor();
  CHECK(flops_in([&] { y.backward(at::ones_like(y)); }) == 2 * product + num_y);  // the bias's gradient is a sum
}

TEST_CASE("work of operators: convolution with stride, padding, dilation and groups") {
  const at::Tensor x = at::ones({2, 4, 9, 7});
  const at::Tensor weight = at::ones({6, 2, 3, 3});
  // (9 + 2 - 2 - 1) / 2 + 1 = 5 rows; (7 + 4 - 4 - 1) / 1 + 1 = 7 columns
  at::Tensor y;
  const auto reading = measure_work([&] { y = at::conv2d(x, weight, {}, {2, 1}, {1, 2}, {1, 2}, 2); });
  CHECK(y.sizes() == at::IntArrayRef({2, 6, 5, 7}));
  CHECK(reading.by_operator == ByOperator{{"aten::convolution", 2 * (2 * 6 * 5 * 7) * (4 / 2) * 9}});
  CHECK(flops_in([&] {
          at::conv2d(x, weight, at::ones({6}), {2, 1}, {1, 2}, {1, 2}, 2);
        }) == 2 * y.numel() * 2 * 9 + y.numel());
  CHECK(flops_in([&] { at::conv1d(at::ones({3, 2, 10}), at::ones({5, 2, 4})); }) == 2 * (3 * 5 * 7) * 2 * 4);
  CHECK(flops_in([&] { at::conv2d(x, at::ones({6, 4, 3, 3}), {}, 1, "same"); }) == 2 * (2 * 6 * 9 * 7) * 4 * 9);
}

TEST_CASE("work of operators: a backend's own convolution counts as the one that chooses a backend") {
  const c10::NoGradGuard no_grad;
  const at::Tensor x = at::ones({2, 4, 9, 7}), weight = at::ones({6, 4, 3, 3}), bias = at::ones({6});
  const std::int64_t expected = flops_in([&] { at::conv2d(x, weight, bias, {2, 1}, {1, 2}, {1, 2}); });
  CHECK(expected == 2 * 6 * 5 * 7 * (2 * 4 * 9 + 1));
  if (at::hasMKLDNN()) {
    const auto reading = measure_work([&] { at::mkldnn_convolution(x, weight, bias, {1, 2}, {2, 1}, {1, 2}, 1); });
    CHECK(reading.by_operator == ByOperator{{"aten::mkldnn_convolution", expected}});
  }
  CHECK(flops_in([&] { at::slow_conv_dilated2d(x, weight, {3, 3}, bias, {2, 1}, {1, 2}, {1, 2}); }) == expected);
  CHECK(flops_in([&] {
          at::thnn_conv2d(x, weight, {3, 3}, bias, {2, 1}, {1, 2});
        }) == flops_in([&] {
          at::conv2d(x, weight, bias, {2, 1}, {1, 2});
        }));
}

TEST_CASE("work of operators: convolution's backward counts the gradients that are asked for") {
  const at::Tensor weight = tracked({6, 2, 3, 3});
  const at::Tensor bias = tracked({6});
  constexpr std::int64_t num_y = 2 * 6 * 5 * 4;
  constexpr std::int64_t product = 2 * num_y * 2 * 9;
  for (const bool of_input : {true, false}) {
    for (const bool of_bias : {true, false}) {
      CAPTURE(of_input);
      CAPTURE(of_bias);
      const at::Tensor x = at::ones({2, 4, 9, 7}).set_requires_grad(of_input);
      const at::Tensor y = at::conv2d(x, weight, of_bias ? bias : at::Tensor(), 2, 1, 1, 2);
      REQUIRE(y.numel() == num_y);
      const at::Tensor grad = at::ones_like(y);
      weight.mutable_grad() = at::Tensor();
      bias.mutable_grad() = at::Tensor();
      CHECK(measure_work([&] { y.backward(grad); }).by_operator ==
            ByOperator{{"aten::convolution_backward", product * (of_input ? 2 : 1) + (of_bias ? num_y : 0)}});
    }
  }
}

TEST_CASE("work of operators: a transposed convolution multiplies the positions of its input") {
  const at::Tensor x = tracked({2, 4, 5, 3});
  const at::Tensor weight = tracked({4, 3, 3, 2});  // 2 groups: 6 channels
  const at::Tensor bias = tracked({6});
  at::Tensor y;
  constexpr std::int64_t product = 2 * (2 * 5 * 3) * (4 * 3 * 3 * 2);
  // 4*2 - 2 + 2 + 1 + 1 = 10 rows; 2*3 - 2 + 2 + 0 + 1 = 7 columns
  constexpr std::int64_t num_y = 2 * 6 * 10 * 7;
  CHECK(flops_in([&] {
          y = at::conv_transpose2d(x, weight, bias, {2, 3}, {1, 1}, {1, 0}, 2, {1, 2});
        }) == product + num_y);
  CHECK(y.sizes() == at::IntArrayRef({2, 6, 10, 7}));
  const at::Tensor grad = at::ones_like(y);
  CHECK(flops_in([&] { y.backward(grad); }) == 2 * product + num_y);
}

TEST_CASE("work of operators: element-wise operators count the elements of their result") {
  const at::Tensor a = at::ones({4, 1});
  const at::Tensor b = at::ones({3});
  at::Tensor c = at::ones({4, 3});
  CHECK(measure_work([&] { a + b; }).by_operator == ByOperator{{"aten::add", 12}});
  CHECK(measure_work([&] { c += b; }).by_operator == ByOperator{{"aten::add_", 12}});
  CHECK(measure_work([&] { c.mul_(2).sub_(1).div_(3); }).by_operator ==
        ByOperator{{"aten::mul_", 12}, {"aten::sub_", 12}, {"aten::div_", 12}});
  CHECK(flops_in([&] { 1 - c; }) == 12);
  CHECK(flops_in([&] { at::pow(2, b); }) == 3);
  CHECK(flops_in([&] { c.exp().log().sqrt().rsqrt().tanh().sigmoid().relu().neg().abs().reciprocal(); }) == 10 * 12);
  CHECK(flops_in([&] { at::gelu(c) + at::silu(c) + at::clamp(c, 0, 1) + at::leaky_relu(c); }) == 7 * 12);
  CHECK(flops_in([&] { at::addcmul(a, b, b); }) == 12);
  CHECK(flops_in([&] { at::addcdiv(b, c, a, 2); }) == 12);
  CHECK(flops_in([&] { at::lerp(a, c, 0.5); }) == 12);
  CHECK(flops_in([&] { at::where(c.gt(0), a, b); }) == 12);
  CHECK(flops_in([&] { at::max(a, b); }) == 12);
  CHECK(flops_in([&] { at::minimum(a, b); }) == 12);
  at::Tensor result = at::empty({0});
  CHECK(flops_in([&] { at::add_out(result, a, b); }) == 12);
  CHECK(flops_in([&] { at::ones({5}, at::kLong) + 1; }) == 5);
  CHECK(flops_in([&] { at::glu(at::ones({2, 6})); }) == 12);
  CHECK(flops_in([&] { at::prelu(at::ones({2, 3, 5}), b); }) == 30);
}

TEST_CASE("work of operators: activations' backward counts once per element") {
  const at::Tensor x = at::ones({4, 3});
  for (const auto& [name, function] : {std::pair<const char*, at::Tensor (*)(const at::Tensor&)>{"relu", at::relu},
                                       {"sigmoid", at::sigmoid},
                                       {"tanh", at::tanh},
                                       {"silu", at::silu},
                                       {"gelu", [](const at::Tensor& in) { return at::gelu(in); }}}) {
    CAPTURE(name);
    const at::Tensor leaf = x.detach().clone().set_requires_grad(true);
    const at::Tensor y = function(leaf);
    const at::Tensor grad = at::ones_like(y);
    CHECK(flops_in([&] { y.backward(grad); }) == 12);
  }
}

TEST_CASE("work of operators: reductions count the elements of their input, once") {
  const at::Tensor x = at::ones({4, 5, 6});
  CHECK(measure_work([&] { x.sum(); }).by_operator == ByOperator{{"aten::sum", 120}});
  CHECK(measure_work([&] { x.sum(1); }).by_operator == ByOperator{{"aten::sum", 120}});
  CHECK(measure_work([&] { x.mean(); }).by_operator == ByOperator{{"aten::mean", 120}});  // calls sum and div_
  CHECK(measure_work([&] { x.norm(); }).by_operator == ByOperator{{"aten::norm", 120}});
  CHECK(flops_in([&] { x.mean(at::IntArrayRef{0, 2}); }) == 120);
  CHECK(flops_in([&] { x.amax(-1); }) == 120);
  CHECK(flops_in([&] { x.max(); }) == 120);
  CHECK(flops_in([&] { at::max(x, 1); }) == 120);
  CHECK(flops_in([&] { x.var(); }) == 120);
  CHECK(flops_in([&] { x.std(1); }) == 120);
  CHECK(flops_in([&] { at::logsumexp(x, 1); }) == 120);
  CHECK(flops_in([&] { x.cumsum(0); }) == 120);
  CHECK(flops_in([&] { at::ones({1}).expand({7}).sum(); }) == 7);
}

TEST_CASE("work of operators: softmax, forward and backward") {
  const at::Tensor x = tracked({4, 10});
  at::Tensor y;
  CHECK(measure_work([&] { y = at::softmax(x, -1); }).by_operator == ByOperator{{"aten::_softmax", 5 * 40}});
  const at::Tensor grad = at::ones_like(y);
  CHECK(measure_work([&] { y.backward(grad); }).by_operator == ByOperator{{"aten::_softmax_backward_data", 4 * 40}});
  CHECK(flops_in([&] { at::log_softmax(x, -1); }) == 5 * 40);
}

TEST_CASE("work of operators: cross entropy counts log_softmax, and one term per target") {
  const at::Tensor x = tracked({4, 10});
  at::Tensor loss;
  CHECK(flops_in([&] { loss = at::cross_entropy_loss(x, at::zeros({4}, at::kLong)); }) == 5 * 40 + 4);
  CHECK(flops_in([&] { loss.backward(); }) == 4 * 40 + 4);
}

TEST_CASE("work of operators: normalisation counts once, whatever it calls") {
  const at::Tensor x = tracked({4, 6, 8});
  const at::Tensor weight = tracked({8});
  const at::Tensor bias = tracked({8});
  const at::Tensor of_channels = tracked({6});
  at::Tensor y;
  CHECK(measure_work([&] { y = at::layer_norm(x, {8}, weight, bias); }).by_operator ==
        ByOperator{{"aten::native_layer_norm", 7 * 192}});
  const at::Tensor grad = at::ones_like(y);
  CHECK(measure_work([&] { y.backward(grad); }).by_operator ==
        ByOperator{{"aten::native_layer_norm_backward", 13 * 192}});
  CHECK(measure_work([&] { y = at::group_norm(x, 3, of_channels, of_channels); }).by_operator ==
        ByOperator{{"aten::native_group_norm", 7 * 192}});
  CHECK(measure_work([&] { at::batch_norm(x, of_channels, of_channels, {}, {}, true, 0.1, 1e-5, false); }).flops ==
        7 * 192);
}

TEST_CASE("work of operators: losses") {
  const at::Tensor x = tracked({4, 6});
  at::Tensor loss;
  CHECK(flops_in([&] { loss = at::mse_loss(x, at::zeros({4, 6})); }) == 3 * 24);
  CHECK(flops_in([&] { loss.backward(); }) == 3 * 24);
}

TEST_CASE("work of operators: what computes nothing counts nothing") {
  const at::Tensor x = at::ones({4, 6});
  const auto reading = measure_work([&] {
    x.clone().t().contiguous().view({-1}).narrow(0, 1, 3).copy_(at::zeros({3}));
    at::cat({x, x}).index_select(0, at::arange(3)).to(at::kDouble);
    at::rand({10}).fill_(2).zero_();
    at::empty({3}).normal_();
    static_cast<void>((x > 0).logical_and(x.eq(1)).any().item<bool>());
    x.argmax();
    at::sort(x);
    at::masked_select(x, x > 2);
    at::where(x > 2);
    at::isfinite(x).logical_not().all();
    static_cast<void>(at::allclose(x, x));
    at::multinomial(x, 2);
    at::one_hot(at::arange(4));
  });
  CHECK(reading.flops == 0);
  CHECK(reading.by_operator.empty());
}

TEST_CASE("work of operators: attention of 4-d tensors counts its formula, with any strides") {
  constexpr std::int64_t B = 2, H = 3, L = 5, D = 4;
  const at::Tensor dense = at::ones({B, H, L, D});
  const at::Tensor strided = at::ones({B, L, H, D}).transpose(1, 2);
  for (const at::Tensor& q : {dense, strided}) {
    const auto reading = measure_work([&] { at::matmul(at::softmax(at::matmul(q, q.transpose(-2, -1)) / 2, -1), q); });
    CHECK(reading.by_operator == ByOperator{{"aten::bmm", 4 * B * H * L * L * D},
                                            {"aten::div", B * H * L * L},
                                            {"aten::_softmax", 5 * B * H * L * L}});
  }
}

}  // namespace
