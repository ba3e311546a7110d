#include "optC_model_parallel/model/model.h"

#include "common/api/errors.h"
#include "common/tensor/exact_data.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"
#include "optC_model_parallel/model/models.h"

// A model's tensors: how they are initialized, named, assigned, and split into shards.
namespace lab::optc {
namespace {

using lab::testing::get_message;

/// linear 4 -> 6, with what tensor parallelism splits.
ModelSpec small_model() {
  LayerSpec layer;
  layer.name = "fc";
  layer.parameters = {{"fc.weight", {6, 4}, Fill::kHe, 4, /*split_dim=*/0},
                      {"fc.bias", {6}, Fill::kUniform, 4},
                      {"fc.seen", {2}, Fill::kZeros, 1, -1, /*learns=*/false},
                      {"fc.scale", {3}, Fill::kOnes}};
  layer.forward = [](const at::Tensor& x, const Tensors& t, Mode) { return at::linear(x, t[0], t[1]); };
  return {"small", {layer}};
}

TEST_CASE("tensors are initialized by their fill, in both dtypes up to rounding, and learn if they should") {
  ModelSpec model = small_model();
  model.layers[0].parameters[0].shape = {600, 4};
  const Tensors in_double = first_parameters(model, 42, at::kDouble).layers[0];
  const Tensors in_float = first_parameters(model, 42, at::kFloat).layers[0];
  for (std::size_t i = 0; i < in_double.size(); ++i) {
    CHECK((in_double[i].scalar_type() == at::kDouble));
    CHECK(in_float[i].detach().equal(in_double[i].detach().to(at::kFloat)));
    CHECK(in_double[i].requires_grad() == (i != 2));
    CHECK(in_double[i].is_leaf());
  }
  // He: uniform within sqrt(6 / 4); nn::Linear: within 1 / sqrt(4). 2,400 draws come close to the limits.
  CHECK(in_double[0].abs().max().item<double>() == doctest::Approx(std::sqrt(1.5)).epsilon(0.01));
  CHECK(in_double[0].mean().item<double>() == doctest::Approx(0).epsilon(0.05));
  CHECK(in_double[1].abs().max().item<double>() <= 0.5);
  CHECK(in_double[1].abs().min().item<double>() > 0);
  CHECK(in_double[2].equal(at::zeros({2}, at::kDouble)));
  CHECK(in_double[3].detach().equal(at::ones({3}, at::kDouble)));
}

TEST_CASE("a tensor depends only on its name and the seed") {
  const ModelSpec model = model_named("tutorial");
  const Parameters whole = first_parameters(model, 42, at::kDouble);
  const ModelSpec part = take_part(model, {2, 2});
  CHECK(part.layers.size() == 2);
  CHECK(part.layers[0].name == "fc1");
  const Parameters alone = first_parameters(part, 42, at::kDouble);
  CHECK(alone.layers[1][0].equal(whole.layers[3][0]));
  CHECK_FALSE(first_parameters(part, 43, at::kDouble).layers[1][0].equal(whole.layers[3][0]));
  ModelSpec renamed = small_model();
  renamed.layers[0].parameters[0].name = "cf.weight";  // the same letters
  CHECK_FALSE(first_parameters(renamed, 42, at::kDouble)
                  .layers[0][0]
                  .equal(first_parameters(small_model(), 42, at::kDouble).layers[0][0]));
}

TEST_CASE("what learns has its names in the same order; running statistics are not among them") {
  const ModelSpec model = small_model();
  const Parameters parameters = first_parameters(model, 1, at::kFloat);
  CHECK(learning_names(model) == std::vector<std::string>{"fc.weight", "fc.bias", "fc.scale"});
  const Tensors tensors = learning(model, parameters);
  REQUIRE(tensors.size() == 3);
  CHECK(tensors[2].is_same(parameters.layers[0][3]));
  CHECK(named(model, parameters).size() == 4);
  CHECK(named(model, parameters).at("fc.bias").data_ptr() == parameters.layers[0][1].data_ptr());
}

TEST_CASE("copies share nothing and are separate leaves") {
  const ModelSpec model = small_model();
  const Parameters first = first_parameters(model, 1, at::kDouble);
  const Parameters copy = copy_of(first);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(copy.layers[0][i].equal(first.layers[0][i]));
    CHECK(copy.layers[0][i].data_ptr() != first.layers[0][i].data_ptr());
    CHECK(copy.layers[0][i].requires_grad() == first.layers[0][i].requires_grad());
    CHECK(copy.layers[0][i].is_leaf());
  }
}

TEST_CASE("assign copies values, or says what does not fit") {
  const ModelSpec model = small_model();
  Parameters parameters = first_parameters(model, 1, at::kDouble);
  const at::Tensor weight = parameters.layers[0][0];
  TensorMap values = named(model, first_parameters(model, 2, at::kDouble));
  assign(model, parameters, values);
  CHECK(weight.detach().equal(values.at("fc.weight")));
  CHECK(weight.requires_grad());
  const auto refusal = [&](const at::Tensor& bias) {
    values["fc.bias"] = bias;
    return get_message([&] { assign(model, parameters, values); });
  };
  CHECK(refusal(at::zeros({5}, at::kDouble)) == "model 'small': expected 'fc.bias' to be float64 [6], got float64 [5]");
  CHECK(refusal(at::zeros({6}, at::kFloat)) == "model 'small': expected 'fc.bias' to be float64 [6], got float32 [6]");
  values.erase("fc.bias");
  CHECK(get_message([&] { assign(model, parameters, values); }) ==
        "model 'small': expected 'fc.bias' to be float64 [6], got nothing of that name");
}

TEST_CASE("tensors of another model are refused") {
  CHECK(get_message([] { named(small_model(), Parameters()); }) ==
        "model 'small': expected the tensors of 1 layers, got those of 0");
}

TEST_CASE("layers run one after the other, and gradients arrive at what learns") {
  const ModelSpec model = small_model();
  const Parameters parameters = first_parameters(model, 1, at::kDouble);
  const at::Tensor x = exact_values({5, 4}, at::kDouble, 1);
  const at::Tensor out = run_layers(model, parameters, x, Mode::kTraining);
  CHECK(out.equal(at::linear(x, parameters.layers[0][0], parameters.layers[0][1])));
  out.sum().backward();
  CHECK(parameters.layers[0][0].grad().equal(at::ones({6, 1}, at::kDouble) * x.sum(0)));
}

TEST_CASE("a shard is a copy of some rows or columns; whole tensors stay whole") {
  const at::Tensor whole = at::arange(24, at::kDouble).view({6, 4});
  const ParameterSpec rows{"w", {6, 4}, Fill::kUniform, 1, /*split_dim=*/0};
  const ParameterSpec columns{"w", {6, 4}, Fill::kUniform, 1, /*split_dim=*/1};
  const ParameterSpec kept{"w", {6, 4}};
  CHECK(take_shard(rows, whole, 1, 3).equal(whole.narrow(0, 2, 2)));
  const at::Tensor shard = take_shard(columns, whole, 1, 2);
  CHECK(shard.equal(whole.narrow(1, 2, 2)));
  CHECK(shard.is_contiguous());
  CHECK(shard.data_ptr() != whole.data_ptr());
  CHECK(take_shard(kept, whole, 1, 2).equal(whole));
  const TensorMap of_model =
      take_shard(small_model(), named(small_model(), first_parameters(small_model(), 1, at::kDouble)), 1, 2);
  CHECK(of_model.size() == 4);
  CHECK((of_model.at("fc.weight").sizes() == at::IntArrayRef{3, 4}));
}

TEST_CASE("a dimension that does not divide is named, and so is a head that would be cut") {
  const ParameterSpec rows{"fc1.weight", {6, 4}, Fill::kUniform, 1, /*split_dim=*/0};
  const at::Tensor whole = at::zeros({6, 4});
  CHECK_THROWS_WITH_AS(take_shard(rows, whole, 0, 4),
                       "'fc1.weight' [6, 4]: dimension 0 cannot be split evenly over 4 ranks", ContractError);
  ParameterSpec heads = rows;
  heads.split_unit = 3;
  CHECK(take_shard(heads, whole, 1, 2).equal(whole.narrow(0, 3, 3)));
  CHECK_THROWS_WITH_AS(take_shard(heads, whole, 0, 3),
                       "'fc1.weight' [6, 4]: dimension 0 cannot be split evenly over 3 ranks in whole pieces of 3",
                       ContractError);
}

}  // namespace
}  // namespace lab::optc
