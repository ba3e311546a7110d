#include <c10/core/GradMode.h>

#include "common/api/partition.h"
#include "vae_sequence_parallel/calls/case_inputs.h"
#include "vae_sequence_parallel/cases/cases.h"
#include "vae_sequence_parallel/cases/module_case.h"
#include "vae_sequence_parallel/model/autoencoder.h"
#include "vae_sequence_parallel/model/checkpoint.h"
#include "vae_sequence_parallel/model/seeded_weights.h"

namespace lab::vae {
namespace {

/// Two levels: an Upsample, a shortcut, and the middle with its attention.
AutoEncoderConfig tiny_config(std::int64_t num_heads = 1) {
  AutoEncoderConfig config;
  config.channels = 32;
  config.channel_multipliers = {1, 2};
  config.num_res_blocks = 1;
  config.z_channels = 4;
  config.num_heads = num_heads;
  config.scale_factor = 0.5;
  config.shift_factor = 0.25;
  return config;
}

/// Three levels of three blocks.
AutoEncoderConfig deep_config() {
  AutoEncoderConfig config = tiny_config(8);
  config.channel_multipliers = {1, 1, 2};
  config.num_res_blocks = 2;
  return config;
}

PictureSetup latent_picture(const Widths& widths, at::ScalarType dtype = at::kFloat) {
  PictureSetup picture;
  picture.channels = tiny_config().z_channels;
  picture.height = 6;
  picture.widths = widths;
  picture.dtype = dtype;
  return picture;
}

/// So wide that a rank's columns are most of what it holds, next to halos and kernels.
PictureSetup wide_latent() {
  PictureSetup picture = latent_picture(spread(40));
  picture.batch = 3;
  picture.height = 2;
  return picture;
}

/// The rounding error of many float32 layers.
Case within_1e5(Case test_case) {
  test_case.tolerance.relative_norm = 1e-5;
  test_case.tolerance.atol = 1e-4;
  return test_case;
}

Case decoder_case(const std::string& name, const PictureSetup& picture,
                  const AutoEncoderConfig& config = tiny_config()) {
  const Case test_case = make_case({"vae.decoder", name, decoder_under_test(config), picture});
  return picture.dtype == at::kFloat ? within_1e5(test_case) : test_case;
}

CaseInputs autoencoder_inputs(const PictureSetup& setup, const CasePlace& place) {
  const AutoEncoderConfig config = tiny_config();
  PictureSetup picture = setup;
  picture.channels = config.in_channels;
  picture.height *= config.downsampling();
  picture.widths = spread(config.downsampling() * setup.widths(1).front());
  SeededWeights weights(place.seed + 1, setup.dtype, 0.5);
  const AutoEncoder model(Weights(weights), config);
  CaseInputs inputs;
  inputs.numbers = read_numbers(config);
  inputs.tensors = {{"input.picture", make_picture(picture, place.size, place.seed)},
                    {"input.latent", make_picture(setup, place.size, place.seed + 2)}};
  for (const auto& [name, tensor] : weights.made()) inputs.tensors["weight." + name] = tensor;
  return inputs;
}

/// The cost of decoding, as it is on one of `size` ranks.
PictureCost decoding(const PictureSetup& setup, int rank, int size) {
  PictureCost cost;
  cost.rank = rank;
  cost.batch = setup.batch;
  cost.height = setup.height;
  cost.widths = uneven_sizes(setup.widths(1).front(), size, "width");
  cost.value_bytes = static_cast<std::int64_t>(c10::elementSize(setup.dtype));
  const std::int64_t latent_values = cost.batch * tiny_config().z_channels * cost.height * cost.total_width();
  cost.kept_values = 2 * latent_values;  // as it was given, and unscaled
  SeededWeights unused(0);
  cost = DecoderCost(Weights(unused), tiny_config()).forward(std::move(cost));
  const std::int64_t picture_values = cost.batch * tiny_config().out_channels * cost.height * cost.total_width();
  // The whole picture as received, joined, and in another layout; and what was sent of it.
  cost.most_held = std::max(cost.most_held, (cost.kept_values + 4 * picture_values) * cost.value_bytes);
  return cost;
}

/// What the decoder's layers send, and then the picture's columns, once and by any operation: an all-to-all; an
/// all-gather of columns that are padded to the widest; a broadcast from each rank; messages, to each rank or around a
/// ring; or an all-reduce of pictures that are 0 elsewhere, which sends twice as many bytes as the others.
std::vector<CostBound> decoding_bounds(const PictureSetup& setup, const CasePlace& place, const std::string& task) {
  const PictureCost cost = decoding(setup, place.rank, place.size);
  const std::int64_t column_bytes = cost.value_bytes * cost.batch * tiny_config().out_channels * cost.height;
  const auto view_bytes = [&](std::int64_t width) { return static_cast<std::uint64_t>(width * column_bytes); };
  const std::uint64_t most_sent = 2 * view_bytes(cost.total_width());
  CostBound in_all;
  in_all.max_bytes_sent = most_sent;
  in_all.min_bytes_received = view_bytes(cost.total_width() - cost.own_width());
  const auto once_more = [&](const LedgerEntry& spent, const std::string& operation, std::uint64_t max_calls) {
    CostBound bound = make_bound(spent, operation);
    bound.max_calls = max_calls;
    bound.max_bytes_sent += most_sent;
    in_all.max_bytes_sent += spent.bytes_sent;
    in_all.min_bytes_received += spent.bytes_received;
    return bound;
  };
  const auto num_ranks = static_cast<std::uint64_t>(place.size);
  std::vector<CostBound> bounds = {{"reduce_scatter", 0}};
  bounds.push_back(once_more({}, "all_reduce", 1));
  bounds.push_back(once_more({}, "broadcast", num_ranks));
  bounds.push_back(once_more(cost.all_gather, "all_gather", cost.all_gather.calls + 1));
  bounds.push_back(once_more(cost.all_to_all, "all_to_all", cost.all_to_all.calls + 1));
  bounds.push_back(once_more(cost.messages, task, CostBound::kAny));
  bounds.back().max_messages = cost.messages.messages + num_ranks - 1;
  bounds.push_back(in_all);
  return bounds;
}

Case autoencoder_case(const std::string& name, const PictureSetup& setup) {
  Case result;
  result.task = "vae.autoencoder";
  result.name = result.prefix = name;
  result.tolerance = tolerance_of(setup.dtype);
  result.inputs = [=](const CasePlace& place) { return autoencoder_inputs(setup, place); };
  result.expected = [=](const CasePlace& place) {
    const c10::NoGradGuard no_grad;
    const CaseInputs inputs = autoencoder_inputs(setup, place);
    CheckpointWeights weights(read_weights(inputs), name, at::kDouble);
    const AutoEncoder model(Weights(weights), tiny_config());
    const auto in_float64 = [&](const char* input) { return inputs.tensor(input).to(at::kDouble); };
    return TensorMap{{"latent", model.encode(in_float64("input.picture")).to(setup.dtype)},
                     {"picture", model.decode(in_float64("input.latent")).to(setup.dtype)},
                     {"z", inputs.tensor("input.latent")}};
  };
  result.bounds = [=](const CasePlace& place) { return decoding_bounds(setup, place, "vae.autoencoder"); };
  result.work = [=](const CasePlace& place) {
    return ShareBound{least_work(decoding(setup, 0, 1)), most_work(decoding(setup, place.rank, place.size))};
  };
  result.memory = [=](const CasePlace& place) {
    return ShareBound{decoding(setup, 0, 1).least_held, decoding(setup, place.rank, place.size).most_held};
  };
  return setup.dtype == at::kFloat ? within_1e5(result) : result;
}

}  // namespace

std::vector<Case> decoder_cases() {
  PictureSetup low = latent_picture(spread(13), at::kDouble);
  low.batch = 1;
  low.height = 2;
  return {decoder_case("Decoder", latent_picture(spread(16))),
          decoder_case("DecoderUneven", latent_picture(spread(13))),
          after_wider(decoder_case("DecoderNarrow", latent_picture(narrow_widths))),
          decoder_case("DecoderUnevenDouble", latent_picture(spread(13), at::kDouble)),
          decoder_case("Decoder8HeadsDouble", low, deep_config()),
          every_other_rank(decoder_case("DecoderSubgroups", latent_picture(spread(13))))};
}

std::vector<Case> autoencoder_cases() {
  PictureSetup alone = latent_picture(spread(kFewestLatentColumns), at::kDouble);
  alone.batch = 1;
  return {autoencoder_case("AutoEncoder", wide_latent()), autoencoder_case("AutoEncoderUnevenDouble", alone)};
}

std::vector<Case> decoder_traffic_cases() {
  ModuleCase one_head = {"vae.decoder_gathers_nothing", "DecoderTraffic", decoder_under_test(tiny_config()),
                         wide_latent()};
  ModuleCase eight_heads = {"vae.decoder_gathers_nothing", "Decoder8HeadsTraffic", decoder_under_test(tiny_config(8)),
                            latent_picture(narrow_widths)};
  one_head.costed = eight_heads.costed = true;
  return {within_1e5(make_case(one_head)), within_1e5(make_case(eight_heads))};
}

std::vector<Case> decoder_gradient_cases() {
  // 64 channels: if a norm's group is one channel, the biases before it have no effect, and no gradient to check.
  AutoEncoderConfig config = tiny_config();
  config.channel_multipliers = {2, 2};
  PictureSetup picture = latent_picture(narrow_widths, at::kDouble);
  picture.height = 2;
  ModuleCase test_case = {"vae.decoder_gradient", "DecoderGradient", decoder_under_test(config), picture};
  test_case.with_gradient = test_case.costed = true;
  return {make_case(test_case)};
}

}  // namespace lab::vae
