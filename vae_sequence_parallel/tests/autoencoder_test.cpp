#include "vae_sequence_parallel/model/autoencoder.h"

#include <c10/core/GradMode.h>

#include "common/api/compare.h"
#include "common/api/errors.h"
#include "common/tensor/seeded.h"
#include "common/testing/test.h"
#include "vae_sequence_parallel/model/checkpoint.h"
#include "vae_sequence_parallel/model/seeded_weights.h"

// The serial autoencoder: the names and shapes of FLUX.1's checkpoint, and what its layers compute.
namespace lab::vae {
namespace {

/// Makes no values: only records the requested parameters.
class Shapes : public WeightSource {
 public:
  at::Tensor get(const std::string& name, at::IntArrayRef shape) override {
    of[name] = shape.vec();
    return at::empty(shape, at::kMeta);
  }

  std::map<std::string, std::vector<std::int64_t>> of;
};

std::map<std::string, std::vector<std::int64_t>> describe_shapes(const AutoEncoderConfig& config) {
  Shapes shapes;
  const AutoEncoder model(Weights(shapes), config);
  return shapes.of;
}

std::pair<int, std::int64_t> count(const std::map<std::string, std::vector<std::int64_t>>& shapes,
                                   const std::string& begin) {
  std::pair<int, std::int64_t> counted = {0, 0};
  for (const auto& [name, shape] : shapes) {
    if (name.compare(0, begin.size(), begin) != 0) continue;
    ++counted.first;
    counted.second += c10::multiply_integers(shape);
  }
  return counted;
}

TEST_CASE("FLUX.1's checkpoint has 244 tensors and 83,819,683 parameters") {
  const auto shapes = describe_shapes(flux_config());
  CHECK(count(shapes, "") == std::pair<int, std::int64_t>(244, 83'819'683));
  CHECK(count(shapes, "encoder.") == std::pair<int, std::int64_t>(106, 34'274'208));
  CHECK(count(shapes, "decoder.") == std::pair<int, std::int64_t>(138, 49'545'475));
}

TEST_CASE("their names and shapes are the original's") {
  const auto shapes = describe_shapes(flux_config());
  const std::map<std::string, std::vector<std::int64_t>> known = {
      {"encoder.conv_in.weight", {128, 3, 3, 3}},
      {"encoder.down.0.block.1.norm2.bias", {128}},
      {"encoder.down.0.downsample.conv.weight", {128, 128, 3, 3}},
      {"encoder.down.1.block.0.nin_shortcut.weight", {256, 128, 1, 1}},
      {"encoder.down.3.block.1.conv2.bias", {512}},
      {"encoder.mid.attn_1.norm.weight", {512}},
      {"encoder.mid.block_2.conv1.weight", {512, 512, 3, 3}},
      {"encoder.norm_out.weight", {512}},
      {"encoder.conv_out.weight", {32, 512, 3, 3}},
      {"decoder.conv_in.weight", {512, 16, 3, 3}},
      {"decoder.mid.attn_1.q.weight", {512, 512, 1, 1}},
      {"decoder.mid.attn_1.proj_out.bias", {512}},
      {"decoder.up.3.block.0.conv1.weight", {512, 512, 3, 3}},
      {"decoder.up.3.upsample.conv.weight", {512, 512, 3, 3}},
      {"decoder.up.1.block.0.nin_shortcut.weight", {256, 512, 1, 1}},
      {"decoder.up.0.block.0.nin_shortcut.weight", {128, 256, 1, 1}},
      {"decoder.up.0.block.2.norm1.weight", {128}},
      {"decoder.norm_out.bias", {128}},
      {"decoder.conv_out.weight", {3, 128, 3, 3}}};
  for (const auto& [name, shape] : known) {
    CAPTURE(name);
    REQUIRE(shapes.count(name) == 1);
    CHECK(shapes.at(name) == shape);
  }
  for (const char* absent : {"encoder.down.3.downsample.conv.weight", "decoder.up.0.upsample.conv.weight",
                             "encoder.quant_conv.weight", "decoder.up.3.block.0.nin_shortcut.weight"})
    CHECK(shapes.count(absent) == 0);
}

TEST_CASE("the lab's own has the sizes that its README names") {
  CHECK(count(describe_shapes(small_config()), "").second == 1'271'427);
}

TEST_CASE("encode and decode change sides by 8, and scale the latent") {
  const c10::NoGradGuard no_gradient;
  AutoEncoderConfig config = small_config();
  SeededWeights weights(7);
  const AutoEncoder unscaled_model(Weights(weights), config);
  const at::Tensor picture = seeded_rand({2, 3, 24, 40}, 1) * 2 - 1;
  const at::Tensor mean = unscaled_model.encode(picture);
  CHECK(mean.sizes() == at::IntArrayRef({2, 16, 3, 5}));
  config.scale_factor = 0.3611;
  config.shift_factor = 0.1159;
  CheckpointWeights same(weights.made(), "the same parameters");
  const AutoEncoder model(Weights(same), config);
  same.finish();
  const at::Tensor z = model.encode(picture);
  CHECK(compare(z, 0.3611 * (mean - 0.1159)).close);
  const at::Tensor decoded = model.decode(z);
  CHECK(decoded.sizes() == at::IntArrayRef({2, 3, 24, 40}));
  CHECK(compare(decoded, unscaled_model.decode(mean)).close);
}

TEST_CASE("what is not a picture or a latent is refused") {
  SeededWeights weights(7);
  const AutoEncoder model(Weights(weights), small_config());
  for (const at::Tensor& wrong : {at::zeros({1, 3, 20, 16}), at::zeros({1, 3, 16, 20}), at::zeros({1, 4, 16, 16}),
                                  at::zeros({3, 16, 16}), at::zeros({1, 3, 0, 16}), at::Tensor()})
    CHECK_THROWS_AS(model.encode(wrong), ContractError);
  for (const at::Tensor& wrong : {at::zeros({1, 3, 2, 2}), at::zeros({16, 2, 2}), at::zeros({1, 16, 2, 0})})
    CHECK_THROWS_AS(model.decode(wrong), ContractError);
}

TEST_CASE("without gradients, layers give what they give with them") {
  SeededWeights weights(3, at::kDouble, 0.5);
  const AutoEncoder model(Weights(weights), small_config());
  const at::Tensor z = seeded_randn({1, 16, 3, 4}, 5, at::kDouble);
  const at::Tensor with_gradients = model.decode(z);
  const c10::NoGradGuard no_gradient;
  const at::Tensor before = z.clone();
  CHECK(compare(model.decode(z), with_gradients, {0, 1e-12}).close);
  CHECK(at::equal(z, before));
}

TEST_CASE("a convolution pads, a Downsample only on the right and below") {
  const c10::NoGradGuard no_gradient;
  SeededWeights weights(3, at::kDouble);
  const Downsample down(Weights(weights), 32);
  const at::Tensor x = seeded_randn({1, 32, 6, 6}, 1, at::kDouble);
  const at::Tensor out = down.forward(x);
  CHECK(out.sizes() == at::IntArrayRef({1, 32, 3, 3}));
  const at::Tensor first = (x.narrow(2, 0, 3).narrow(3, 0, 3) * down.conv.weight).sum({1, 2, 3}) + down.conv.bias;
  CHECK(compare(out.select(2, 0).select(2, 0)[0], first, {1e-12, 1e-12}).close);
  const at::Tensor last =
      (x.narrow(2, 4, 2).narrow(3, 4, 2) * down.conv.weight.narrow(2, 0, 2).narrow(3, 0, 2)).sum({1, 2, 3}) +
      down.conv.bias;
  CHECK(compare(out.select(2, 2).select(2, 2)[0], last, {1e-12, 1e-12}).close);
}

TEST_CASE("attention is the softmax of scaled products, heads are slices of channels") {
  const at::Tensor x = seeded_randn({2, 8, 3, 5}, 1, at::kDouble);
  const at::Tensor heads = to_heads(x, 2);
  CHECK(heads.sizes() == at::IntArrayRef({2, 2, 15, 4}));
  CHECK(heads[1][1][7][2].item<double>() == x[1][6][1][2].item<double>());
  CHECK(at::equal(from_heads(heads, 3, 5), x));
  const at::Tensor q = heads[0][0], k = heads[1][0], v = heads[1][1];
  const at::Tensor found = attention(q.view({1, 1, 15, 4}), k.view({1, 1, 15, 4}), v.view({1, 1, 15, 4}))[0][0];
  const at::Tensor weights = at::softmax(at::matmul(q, k.t()) / 2, -1);
  CHECK(compare(found, at::matmul(weights, v), {1e-12, 1e-12}).close);
}

TEST_CASE("a serial model reports every convolution, and every band of a large one") {
  const c10::NoGradGuard no_gradient;
  SeededWeights source(3);
  int num_reports = 0;
  const Weights silent(source), heard(source, "", [&] { ++num_reports; });
  const auto list_reports = [&](const std::function<void()>& work) {
    num_reports = 0;
    work();
    return num_reports;
  };
  AutoEncoderConfig config = small_config();
  const AutoEncoder model(heard, config);
  const at::Tensor picture = seeded_rand({1, 3, 16, 16}, 4);
  CHECK(list_reports([&] { model.encode(picture); }) >= 20);
  CHECK(list_reports([&] { model.decode(seeded_randn({1, 16, 2, 2}, 5)); }) >= 20);

  // 2^32 products are some 28 rows of 1,024 pixels here.
  for (const auto& [kernel, padding] : {std::pair(3, 1), std::pair(1, 0), std::pair(5, 2), std::pair(3, 0)}) {
    const Conv2dOptions options = {128, 128 * 9 / (kernel * kernel), kernel, 1, padding};
    const Conv2d whole(silent / "conv", options);
    Conv2d in_bands = whole;
    in_bands.report = heard.report();
    const at::Tensor x = seeded_rand({1, 128, 61, 1024}, 6).contiguous(at::MemoryFormat::ChannelsLast);
    at::Tensor found;
    INFO("kernel " << kernel << ", padding " << padding);
    CHECK(list_reports([&] { found = in_bands.forward(x); }) == 3);
    CHECK(at::equal(found, whole.forward(x)));
  }
}

}  // namespace
}  // namespace lab::vae
