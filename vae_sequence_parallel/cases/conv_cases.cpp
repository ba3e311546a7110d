#include <algorithm>

#include "common/comm/messages/model_time.h"
#include "vae_sequence_parallel/cases/cases.h"
#include "vae_sequence_parallel/cases/module_case.h"

namespace lab::vae {
namespace {

const char* const kConvTask = "vae.conv2d";

struct Window {
  std::int64_t kernel = 3, stride = 1, padding = 1;
};

/// The handout's 32x32: sums of up to 1152 products.
Case conv_at_full_size(const std::string& name, const Conv2dOptions& options) {
  ModuleCase test_case;
  test_case.task = kConvTask;
  test_case.name = name;
  test_case.module = conv2d_under_test(options);
  test_case.in_float64 = false;
  return make_case(test_case);
}

/// Odd numbers of channels, so that nothing fits by accident.
ModuleCase small_conv(const std::string& task, const std::string& name, const Widths& widths, const Window& window,
                      at::ScalarType dtype) {
  ModuleCase test_case;
  test_case.task = task;
  test_case.name = name;
  test_case.module = conv2d_under_test({5, 7, window.kernel, window.stride, window.padding});
  test_case.picture.height = 9;
  test_case.picture.widths = widths;
  test_case.picture.dtype = dtype;
  return test_case;
}

Case conv_case(const std::string& name, const Widths& widths, const Window& window, at::ScalarType dtype = at::kFloat) {
  return make_case(small_conv(kConvTask, name, widths, window, dtype));
}

ModuleCase halo_case(const std::string& name, const Widths& widths, const Window& window) {
  ModuleCase test_case = small_conv("vae.conv2d_halo", name, widths, window, at::kFloat);
  test_case.costed = true;
  return test_case;
}

/// A picture so wide that who holds all of its columns exceeds what a rank may hold.
Case wide_halo_case() {
  ModuleCase test_case = halo_case("Conv2dHalo", spread(151), {3, 1, 1});
  test_case.module = conv2d_under_test({7, 5, 3, 1, 1});
  test_case.picture.batch = 3;
  test_case.picture.height = 32;
  return make_case(test_case);
}

/// The time of a rank's convolution and of its border columns once more, for those who convolve all columns at once and
/// replace the borders later; of posting its sends and taking as many receives; and half the time in which the fastest
/// message travels. Who waits for the halo before convolving needs all of that time.
TimeBound time_of_hidden_halo(const ModuleCase& test_case, int size, std::uint64_t seed) {
  const comm::ModelRates rates;
  TimeBound bound;
  for (int rank = 0; rank < size; ++rank) {
    const PictureCost cost = compute_cost(test_case, {rank, size, seed});
    const std::int64_t bias_flops = cost.values(test_case.module.in_channels);  // as many channels as come out
    const std::int64_t needed_ps = (cost.product_flops + bias_flops) * rates.ps_per_flop;
    const auto num_overheads = static_cast<std::int64_t>(2 * cost.messages.messages);
    const std::int64_t more_ps =
        cost.border_flops * rates.ps_per_flop + num_overheads * rates.overhead_ps + rates.latency_ps / 2;
    bound.needed_ps = std::max(bound.needed_ps, needed_ps);
    bound.max_ps = std::max(bound.max_ps, needed_ps + more_ps);
  }
  return bound;
}

/// A rank's inner columns take 50 us and more, a halo 21.
Case overlap_case() {
  ModuleCase test_case;
  test_case.task = "vae.conv2d_overlap";
  test_case.name = "Conv2dOverlap";
  test_case.module = conv2d_under_test({8, 8, 3, 1, 1});
  test_case.picture.height = 6;
  test_case.picture.widths = spread_per_rank(40);
  test_case.costed = true;
  Case result = make_case(test_case);
  result.time = [test_case](int size, std::uint64_t seed) { return time_of_hidden_halo(test_case, size, seed); };
  return result;
}

Case of_batch(ModuleCase test_case, std::int64_t batch, std::int64_t height) {
  test_case.picture.batch = batch;
  test_case.picture.height = height;
  return make_case(test_case);
}

Case conv_gradient_case(const std::string& name, const Widths& widths, const Window& window, at::ScalarType dtype) {
  ModuleCase test_case = small_conv("vae.conv2d_gradient", name, widths, window, dtype);
  test_case.picture.mean = 1;  // sums of values around 0 lose more digits than they have terms
  test_case.with_gradient = test_case.costed = true;
  return make_case(test_case);
}

}  // namespace

std::vector<Case> conv_cases() {
  return {conv_at_full_size("Conv2d_32to64_k3", {32, 64, 3, 1, 1}),
          conv_at_full_size("Conv2d_64to64_k1", {64, 64, 1, 1, 0}),
          conv_at_full_size("Conv2d_128to256_k3", {128, 256, 3, 1, 1}),
          after_wider(of_batch(small_conv(kConvTask, "Conv2dUneven", spread(37), {3, 1, 1}, at::kFloat), 3, 4)),
          conv_case("Conv2dUnevenDouble", spread(37), {3, 1, 1}, at::kDouble),
          of_batch(small_conv(kConvTask, "Conv2dRisingWidths", rising_widths, {3, 1, 1}, at::kFloat), 3, 33),
          conv_case("Conv2dEmptySlices", gapped_widths, {3, 1, 1}),
          conv_case("Conv2dKernel5", narrow_widths, {5, 1, 2}),
          conv_case("Conv2dKernel7", narrow_widths, {7, 1, 3}),
          conv_case("Conv2dNoPadding", spread(37), {3, 1, 0}),
          conv_case("Conv2dWidePadding", spread(37), {3, 1, 2}),
          conv_case("Conv2dStride2", spread(37), {3, 2, 1}),
          conv_case("Conv2dStride2Kernel1", spread(37), {1, 2, 0}),
          of_batch(small_conv(kConvTask, "Conv2dStride2Kernel7", spread(37), {7, 2, 0}, at::kFloat), 1, 64),
          conv_case("Conv2dStride2Kernel5", narrow_widths, {5, 2, 2}),
          every_other_rank(conv_case("Conv2dSubgroups", spread(37), {3, 1, 1})),
          wide_halo_case(),
          make_case(halo_case("Conv2dHaloKernel1", spread(37), {1, 1, 0})),
          make_case(halo_case("Conv2dHaloKernel7", narrow_widths, {7, 1, 3})),
          make_case(halo_case("Conv2dHaloStride2", rising_widths, {3, 2, 1})),
          overlap_case()};
}

std::vector<Case> conv_gradient_cases() {
  return {conv_gradient_case("Conv2dGradient", spread(37), {3, 1, 1}, at::kFloat),
          conv_gradient_case("Conv2dKernel7Gradient", narrow_widths, {7, 1, 3}, at::kDouble),
          conv_gradient_case("Conv2dStride2Gradient", narrow_widths, {3, 2, 1}, at::kDouble),
          conv_gradient_case("Conv2dStride2Kernel1Gradient", spread(37), {1, 2, 0}, at::kFloat),
          conv_gradient_case("Conv2dEmptySlicesGradient", gapped_widths, {5, 1, 2}, at::kDouble)};
}

}  // namespace lab::vae
