#include "optC_model_parallel/model/models.h"

#include <algorithm>
#include <map>

#include "common/api/errors.h"
#include "common/tensor/seeded.h"
#include "common/testing/test.h"
#include "optC_model_parallel/model/images.h"

// Seven models: the names, sizes and costs of their tensors, and where they can be split.
namespace lab::optc {
namespace {

std::vector<std::string> all_names() {
  std::vector<std::string> names = pipeline_model_names();
  names.insert(names.end(), tensor_model_names().begin(), tensor_model_names().end());
  return names;
}

std::int64_t num_learned(const ModelSpec& model) {
  std::int64_t sum = 0;
  for (const at::Tensor& tensor : learning(model, first_parameters(model, 1, at::kFloat))) sum += tensor.numel();
  return sum;
}

std::vector<double> costs(const ModelSpec& model) {
  std::vector<double> all;
  for (const LayerSpec& layer : model.layers) all.push_back(layer.multiply_adds);
  return all;
}

TEST_CASE("the tutorial's net is the tutorial's") {
  const ModelSpec model = model_named("tutorial");
  CHECK(model.name == "tutorial");
  CHECK(num_learned(model) == 62'006);
  CHECK(learning_names(model) == std::vector<std::string>{"conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias",
                                                          "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias",
                                                          "fc3.weight", "fc3.bias"});
  // Outputs times the terms of each; the first convolution makes 6 x 28 x 28 of 3 x 5 x 5.
  CHECK(costs(model) == std::vector<double>{4704.0 * 75, 1600.0 * 150, 400 * 120, 120 * 84, 84 * 10});
}

TEST_CASE("every layer has the shape that it says, also with no image at all, in both dtypes and modes") {
  for (const std::string& name : all_names()) {
    const ModelSpec model = model_named(name);
    CAPTURE(name);
    for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
      const Parameters parameters = first_parameters(model, 42, dtype);
      for (const Mode mode : {Mode::kTraining, Mode::kEvaluation}) {
        for (const std::int64_t num_images : {0, 2}) {
          at::Tensor x = seeded_rand({num_images, kImageChannels, kImageSide, kImageSide}, 1, dtype);
          for (std::size_t i = 0; i < model.layers.size(); ++i) {
            x = model.layers[i].forward(x, parameters.layers[i], mode);
            std::vector<std::int64_t> shape = model.layers[i].out_shape;
            shape.insert(shape.begin(), num_images);
            CHECK(x.sizes().vec() == shape);
            CHECK((x.scalar_type() == dtype));
          }
          CHECK((x.sizes() == at::IntArrayRef{num_images, kNumClasses}));
          CHECK(at::isfinite(x).all().item<bool>());
        }
      }
    }
  }
}

TEST_CASE("no image has gradients of zero, not none: a micro-batch may be empty") {
  for (const std::string& name : all_names()) {
    const ModelSpec model = model_named(name);
    const Parameters parameters = first_parameters(model, 42, at::kFloat);
    run_layers(model, parameters, at::zeros({0, kImageChannels, kImageSide, kImageSide}), Mode::kTraining)
        .sum()
        .backward();
    for (const at::Tensor& tensor : learning(model, parameters)) {
      CAPTURE(name);
      REQUIRE(tensor.grad().defined());
      CHECK(tensor.grad().equal(at::zeros_like(tensor)));
    }
  }
}

TEST_CASE("every tensor matters: all that learn get a gradient, and no two have a name") {
  for (const std::string& name : all_names()) {
    const ModelSpec model = model_named(name);
    CAPTURE(name);
    std::vector<std::string> names = learning_names(model);
    std::sort(names.begin(), names.end());
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
    const Parameters parameters = first_parameters(model, 42, at::kDouble);
    const at::Tensor x = 2 * seeded_rand({8, kImageChannels, kImageSide, kImageSide}, 1, at::kDouble) - 1;
    const at::Tensor labels = at::arange(8);
    at::cross_entropy_loss(run_layers(model, parameters, x, Mode::kTraining), labels).backward();
    const Tensors tensors = learning(model, parameters);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      CAPTURE(learning_names(model)[i]);
      // A key's bias shifts all of a query's scores equally, which softmax ignores.
      if (learning_names(model)[i].find(".k.bias") != std::string::npos) continue;
      CHECK(tensors[i].grad().norm().item<double>() > 1e-6);
    }
  }
}

TEST_CASE("deep has a layer for each of eight stages, five of them convolutions") {
  const ModelSpec model = model_named("deep");
  REQUIRE(model.layers.size() == 8);
  CHECK(std::count_if(model.layers.begin(), model.layers.end(),
                      [](const LayerSpec& layer) { return layer.parameters[0].shape.size() == 4; }) == 5);
}

TEST_CASE("pair begins as the tutorial's net, and computes the same") {
  const ModelSpec tutorial = model_named("tutorial");
  const ModelSpec pair = model_named("pair");
  const Parameters of_tutorial = first_parameters(tutorial, 42, at::kDouble);
  const Parameters of_pair = first_parameters(pair, 42, at::kDouble);
  const TensorMap left = named(tutorial, of_tutorial);
  const TensorMap right = named(pair, of_pair);
  REQUIRE(left.size() == right.size());
  for (const auto& [name, tensor] : left) CHECK(tensor.equal(right.at(name)));
  const at::Tensor x = seeded_rand({3, kImageChannels, kImageSide, kImageSide}, 1, at::kDouble);
  CHECK(run_layers(pair, of_pair, x, Mode::kTraining).equal(run_layers(tutorial, of_tutorial, x, Mode::kTraining)));
  const ModelSpec with_norm = model_named("pair-norm");
  CHECK(num_learned(with_norm) == 62'006 + 2 * 120);
  CHECK(named(with_norm, first_parameters(with_norm, 42, at::kDouble)).at("fc2.weight").equal(left.at("fc2.weight")));
}

TEST_CASE("all ranks' shards put together are the whole, for as many ranks as models.h promises") {
  const std::map<std::string, std::vector<int>> choose_num_ranks = {{"pair", {1, 2, 3, 4, 5, 6, 8, 12}},
                                                                    {"pair-norm", {1, 2, 3, 4, 5, 6, 8, 12}},
                                                                    {"resnet", {1, 2, 3, 4, 6, 8, 12}},
                                                                    {"vit", {1, 2, 4}}};
  for (const std::string& name : tensor_model_names()) {
    const ModelSpec model = model_named(name);
    const TensorMap whole = named(model, first_parameters(model, 42, at::kDouble));
    for (const int num_ranks : choose_num_ranks.at(name)) {
      std::vector<TensorMap> shards;
      for (int rank = 0; rank < num_ranks; ++rank) shards.push_back(take_shard(model, whole, rank, num_ranks));
      for (const ParameterSpec& spec : parameter_specs(model)) {
        CAPTURE(spec.name);
        std::vector<at::Tensor> parts;
        for (const TensorMap& shard : shards) parts.push_back(shard.at(spec.name));
        CHECK((spec.split_dim < 0 ? parts.back() : at::cat(parts, spec.split_dim)).equal(whole.at(spec.name)));
      }
    }
  }
  const ModelSpec vit = model_named("vit");
  CHECK_THROWS_WITH_AS(take_shard(vit, named(vit, first_parameters(vit, 42, at::kDouble)), 0, 3),
                       "'block1.q.weight' [48, 48]: dimension 0 cannot be split evenly over 3 ranks in whole pieces "
                       "of 12",
                       ContractError);
}

TEST_CASE("given blocks replace the serial ones") {
  Blocks blocks = serial_blocks();
  int calls = 0;
  blocks.mlp = [&calls](const at::Tensor& x, const Tensors& tensors) {
    ++calls;
    return serial_blocks().mlp(x, tensors);
  };
  for (const std::string name : {"pair", "vit"}) {
    const ModelSpec model = model_named(name, blocks);
    run_layers(model, first_parameters(model, 42, at::kFloat), at::zeros({1, kImageChannels, kImageSide, kImageSide}),
               Mode::kTraining);
  }
  CHECK(calls == 1 + 2);
}

TEST_CASE("an unknown model is refused with the known ones") {
  CHECK_THROWS_WITH_AS(model_named("tutorail"),
                       "model 'tutorail': expected one of tutorial, deep (pipeline) or pair, pair-norm, vit, "
                       "resnet (tensor)",
                       UsageError);
}

}  // namespace
}  // namespace lab::optc
