#include <algorithm>

#include "common/comm/messages/model_time.h"
#include "vae_sequence_parallel/cases/cases.h"
#include "vae_sequence_parallel/cases/module_case.h"

namespace lab::vae {
namespace {

/// The time of all that a rank may compute, and of receiving the whole picture four times: attention takes so much
/// longer that ranks which attend in turns need more.
TimeBound time_of_one_rank(const ModuleCase& test_case, int size, std::uint64_t seed) {
  const comm::ModelRates rates;
  TimeBound bound;
  for (int rank = 0; rank < size; ++rank) {
    const PictureCost cost = compute_cost(test_case, {rank, size, seed});
    const std::int64_t bytes =
        cost.value_bytes * cost.batch * test_case.module.in_channels * cost.height * cost.total_width();
    const std::int64_t messages_ps =
        4 * bytes * rates.ps_per_byte + 8 * size * (rates.latency_ps + 2 * rates.overhead_ps);
    bound.needed_ps = std::max(bound.needed_ps, least_work(cost) * rates.ps_per_flop);
    bound.max_ps = std::max(bound.max_ps, most_work(cost) * rates.ps_per_flop + messages_ps);
  }
  return bound;
}

/// A square picture as in the handout. The sums of an Upsample have up to 2304 products.
Case block_at_full_size(const std::string& task, const std::string& name, const ModuleUnderTest& module,
                        std::int64_t side, bool in_float64) {
  PictureSetup picture;
  picture.height = side;
  picture.widths = spread(side);
  ModuleCase test_case = {task, name, module, picture};
  test_case.in_float64 = in_float64;
  Case result = make_case(test_case);
  result.time = [test_case](int size, std::uint64_t seed) { return time_of_one_rank(test_case, size, seed); };
  return result;
}

ModuleCase small_block(const std::string& task, const std::string& name, const ModuleUnderTest& module,
                       const Widths& widths, at::ScalarType dtype = at::kFloat) {
  PictureSetup picture;
  picture.height = 5;
  picture.widths = widths;
  picture.dtype = dtype;
  return {task, name, module, picture};
}

Case traffic_case(const std::string& name, const ModuleUnderTest& module) {
  ModuleCase test_case = small_block("vae.decoder_gathers_nothing", name, module, spread(13));
  test_case.costed = true;
  return make_case(test_case);
}

Case block_gradient_case(const std::string& name, const ModuleUnderTest& module, const Widths& widths) {
  ModuleCase test_case = small_block("vae.decoder_gradient", name, module, widths, at::kDouble);
  test_case.with_gradient = test_case.costed = true;
  return make_case(test_case);
}

}  // namespace

std::vector<Case> upsample_cases() {
  const std::string task = "vae.upsample";
  return {block_at_full_size(task, "Upsample_64", upsample_under_test(64), 16, false),
          block_at_full_size(task, "Upsample_128", upsample_under_test(128), 16, false),
          block_at_full_size(task, "Upsample_256", upsample_under_test(256), 16, false),
          after_wider(make_case(small_block(task, "UpsampleNarrow", upsample_under_test(5), narrow_widths))),
          make_case(small_block(task, "UpsampleDouble", upsample_under_test(5), rising_widths, at::kDouble))};
}

std::vector<Case> attn_block_cases() {
  const std::string task = "vae.attn_block";
  return {
      block_at_full_size(task, "AttnBlock_64", attn_block_under_test(64, 1), 32, true),
      block_at_full_size(task, "AttnBlock_128", attn_block_under_test(128, 1), 32, true),
      block_at_full_size(task, "AttnBlock_256", attn_block_under_test(256, 1), 32, true),
      after_wider(make_case(small_block(task, "AttnBlockUneven", attn_block_under_test(64, 1), spread(13)))),
      make_case(small_block(task, "AttnBlock8Heads", attn_block_under_test(64, 8), spread(13))),
      make_case(small_block(task, "AttnBlock8HeadsDouble", attn_block_under_test(64, 8), rising_widths, at::kDouble))};
}

std::vector<Case> resnet_block_cases() {
  const std::string task = "vae.resnet_block";
  return {
      after_wider(make_case(small_block(task, "ResnetBlock", resnet_block_under_test(32, 32), spread(13)))),
      make_case(small_block(task, "ResnetBlockShortcut", resnet_block_under_test(32, 64), narrow_widths)),
      make_case(small_block(task, "ResnetBlockDouble", resnet_block_under_test(64, 32), rising_widths, at::kDouble))};
}

std::vector<Case> block_traffic_cases() {
  return {traffic_case("UpsampleTraffic", upsample_under_test(5)),
          traffic_case("AttnBlockTraffic", attn_block_under_test(32, 1)),
          traffic_case("AttnBlock8HeadsTraffic", attn_block_under_test(32, 8)),
          traffic_case("ResnetBlockTraffic", resnet_block_under_test(32, 64))};
}

std::vector<Case> block_gradient_cases() {
  return {block_gradient_case("UpsampleGradient", upsample_under_test(5), narrow_widths),
          block_gradient_case("AttnBlockGradient", attn_block_under_test(32, 1), spread(13)),
          block_gradient_case("AttnBlock8HeadsGradient", attn_block_under_test(32, 8), rising_widths),
          block_gradient_case("ResnetBlockGradient", resnet_block_under_test(32, 64), narrow_widths)};
}

}  // namespace lab::vae
