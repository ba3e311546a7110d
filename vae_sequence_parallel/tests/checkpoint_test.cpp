#include "vae_sequence_parallel/model/checkpoint.h"

#include <fmt/format.h>

#include "common/api/errors.h"
#include "common/tensor/files/safetensors.h"
#include "common/tensor/meters/memory_meter.h"
#include "common/testing/get_message.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"
#include "vae_sequence_parallel/model/autoencoder.h"
#include "vae_sequence_parallel/model/seeded_weights.h"

// Checkpoints are loaded strictly, into one copy.
namespace lab::vae {
namespace {

TensorMap small_parameters() {
  SeededWeights weights(1);
  const AutoEncoder model(Weights(weights), small_config());
  return weights.made();
}

void load(const std::string& path) {
  load_model<AutoEncoder>(path, at::kCPU);
}

TEST_CASE("float32, float16 and bfloat16 come back as float32, the config with them") {
  const testing::TemporaryFolder folder;
  const TensorMap parameters = small_parameters();
  AutoEncoderConfig config = small_config();
  config.scale_factor = 2.5;
  for (const at::ScalarType dtype : {at::kFloat, at::kHalf, at::kBFloat16}) {
    const std::string path = folder.file("model.safetensors");
    save_checkpoint(path, parameters, config, dtype);
    const auto model = load_model<AutoEncoder>(path, at::kCPU);
    CHECK(model.config.scale_factor == 2.5);
    CHECK(model.config.channel_multipliers == config.channel_multipliers);
    const at::Tensor expected = parameters.at("decoder.up.1.block.0.conv1.weight").to(dtype).to(at::kFloat);
    CHECK(at::equal(model.decoder.up[1].block[0].conv1.weight, expected));
    CHECK(model.decoder.up[1].block[0].conv1.weight.is_contiguous(at::MemoryFormat::ChannelsLast));
  }
}

TEST_CASE("missing, extra and mis-shaped tensors are listed in one message") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("model.safetensors");
  TensorMap parameters = small_parameters();
  for (const char* name : {"decoder.conv_in.bias", "encoder.conv_in.bias", "encoder.mid.attn_1.q.weight",
                           "encoder.mid.attn_1.q.bias", "encoder.norm_out.weight"})
    parameters.erase(name);
  parameters["decoder.norm_out.weight"] = at::ones({33});
  parameters["decoder.norm_out.bias"] = at::ones({32}, at::kLong);
  parameters["loss.logvar"] = at::ones({1});
  save_safetensors(path, parameters, {{"config", to_json(small_config())}});
  const std::string message = testing::get_message([&] { load(path); });
  CHECK(testing::contains(message, path));
  CHECK(testing::contains(message, "5 missing: "));
  CHECK(testing::contains(message, " and 2 more"));
  CHECK(testing::contains(message, "2 of another shape or dtype: "));
  CHECK(testing::contains(message, "decoder.norm_out.weight float32 [33] (expected [32])"));
  CHECK(testing::contains(message, "decoder.norm_out.bias int64 [32]"));
  CHECK(testing::contains(message, "1 not expected: loss.logvar"));
}

TEST_CASE("another layout is named, with the file that is wanted") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("model.safetensors");
  const auto message_about = [&](const char* name) {
    save_safetensors(path, {{name, at::ones({1})}});
    return testing::get_message([&] { load(path); });
  };
  CHECK(testing::contains(message_about("decoder.up_blocks.0.resnets.0.conv1.weight"),
                          "; hint: this is the layout of diffusers: expected that of FLUX.1's repository"));
  CHECK(testing::contains(message_about("first_stage_model.decoder.conv_in.weight"), "; hint: this is a whole model"));
  CHECK_FALSE(testing::contains(message_about("loss.logvar"), "hint"));
}

TEST_CASE("a file without a config is taken for FLUX.1's, and found not to be") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("model.safetensors");
  save_safetensors(path, small_parameters());
  CHECK(testing::contains(testing::get_message([&] { load(path); }),
                          "expected exactly the 244 tensors of an autoencoder with ch 128"));
}

TEST_CASE("an invalid config is refused before any tensor is made") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("model.safetensors");
  const std::string good = to_json(small_config());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  for (const std::string& wrong :
       {with("\"ch\":32", "\"ch\":40"), with("\"ch\":32", "\"ch\":-32"), with("\"ch\":32", "\"ch\":1e30"),
        with("[1,2,2,2]", "[]"), with("[1,2,2,2]", "[1,2,2,2,2,2,2,2,2]"), with("[1,2,2,2]", "\"1\""),
        with("\"z_channels\":16,", ""), with("\"scale_factor\":1.0", "\"scale_factor\":0.0"),
        with("\"num_heads\":1", "\"num_heads\":3"), with("\"num_res_blocks\":1", "\"num_res_blocks\":65536"),
        std::string("{"), std::string("[]"), std::string("")}) {
    CAPTURE(wrong);
    save_safetensors(path, {{"x", at::zeros({1})}}, {{"config", wrong}});
    CHECK(testing::contains(testing::get_message([&] { load(path); }), path));
  }
}

TEST_CASE("a file cut short anywhere, or not a checkpoint, is refused") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("model.safetensors");
  save_checkpoint(path, small_parameters(), small_config(), at::kHalf);
  const std::string bytes = testing::read_bytes(path);
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{7}, std::size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
    testing::write_bytes(path, bytes.substr(0, length));
    CHECK(testing::contains(testing::get_message([&] { load(path); }), path));
  }
  CHECK(testing::contains(testing::get_message([&] { load(folder.file("absent")); }), "absent"));
}

TEST_CASE("a config that claims far more than the file has is refused, and nothing allocated for it") {
  install_memory_meter();
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("model.safetensors");
  for (const auto& [channels, multipliers] :
       {std::pair<std::int64_t, std::vector<std::int64_t>>(65536, {1, 2, 2, 2}), {65536, {1024, 1024, 1024, 1024}}}) {
    AutoEncoderConfig config = small_config();
    config.channels = channels;
    config.channel_multipliers = multipliers;
    save_safetensors(path, small_parameters(), {{"config", to_json(config)}});
    const MemoryScope scope;
    const std::string message = testing::get_message([&] { load(path); });
    CAPTURE(message);
    CHECK(testing::contains(message, "tensors of an autoencoder with ch 65536 and ch_mult"));
    CHECK(scope.reading().peak_bytes < 10'000'000);  // tensors of the right shape are read, 5 MB
  }
}

TEST_CASE("a model of seeded weights that are not kept is in memory once") {
  install_memory_meter();
  SeededWeights source(1);
  source.keep_none();
  const MemoryScope scope;
  const AutoEncoder model(Weights(source), small_config());
  const std::int64_t bytes = 4 * 1'271'427;
  CHECK(scope.reading().retained_bytes == bytes);
  // A convolution's weight is copied once, into channels last; the largest is 64 x 64 x 9.
  CHECK(scope.reading().peak_bytes <= bytes + 4 * 64 * 64 * 9);
}

TEST_CASE("a checkpoint's digest is that of its bytes") {
  const testing::TemporaryFolder folder;
  testing::write_bytes(folder.file("one"), "abc");
  testing::write_bytes(folder.file("same"), "abc");
  testing::write_bytes(folder.file("other"), "abd");
  CHECK(checkpoint_digest(folder.file("one")) == checkpoint_digest(folder.file("same")));
  CHECK(checkpoint_digest(folder.file("one")) != checkpoint_digest(folder.file("other")));
}

TEST_CASE("a loaded model holds one copy, in float32") {
  install_memory_meter();
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("model.safetensors");
  std::int64_t num_values = 0;
  {
    const TensorMap parameters = small_parameters();
    for (const auto& named : parameters) num_values += named.second.numel();
    save_checkpoint(path, parameters, small_config(), at::kFloat);
  }
  const MemoryScope scope;
  const auto model = load_model<AutoEncoder>(path, at::kCPU);
  CHECK(scope.reading().retained_bytes == 4 * num_values);
  CHECK(scope.reading().peak_bytes == 4 * num_values);
}

}  // namespace
}  // namespace lab::vae
