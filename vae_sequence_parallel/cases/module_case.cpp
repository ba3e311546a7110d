#include "vae_sequence_parallel/cases/module_case.h"

#include <c10/core/GradMode.h>

#include "common/checks/once_per_world.h"
#include "common/comm/messages/ledger.h"
#include "common/tensor/seeded.h"
#include "vae_sequence_parallel/calls/case_inputs.h"
#include "vae_sequence_parallel/calls/leaf_weights.h"
#include "vae_sequence_parallel/calls/module_call.h"
#include "vae_sequence_parallel/model/autoencoder.h"
#include "vae_sequence_parallel/model/checkpoint.h"
#include "vae_sequence_parallel/model/seeded_weights.h"

namespace lab::vae {
namespace {

/// Serial and Costs are constructed from the same arguments.
template <class Serial, class Costs, class... Arguments>
ModuleUnderTest make_module_under_test(ModuleKind kind, std::int64_t in_channels, std::map<std::string, double> numbers,
                                       const Arguments&... arguments) {
  ModuleUnderTest module;
  module.in_channels = in_channels;
  module.numbers = std::move(numbers);
  module.numbers["module"] = static_cast<double>(kind);
  module.serial = [=](const Weights& weights) -> std::function<at::Tensor(at::Tensor)> {
    return [made = Serial(weights, arguments...)](at::Tensor x) { return made.forward(std::move(x)); };
  };
  module.cost = [=](PictureCost x) {
    SeededWeights unused(0);
    return Costs(Weights(unused), arguments...).forward(std::move(x));
  };
  return module;
}

double number(std::int64_t whole) {
  return static_cast<double>(whole);
}

}  // namespace

ModuleUnderTest conv2d_under_test(const Conv2dOptions& options) {
  return make_module_under_test<Conv2d, Conv2dCost>(ModuleKind::kConv2d, options.in_channels,
                                                    {{"in_channels", number(options.in_channels)},
                                                     {"out_channels", number(options.out_channels)},
                                                     {"kernel", number(options.kernel)},
                                                     {"stride", number(options.stride)},
                                                     {"padding", number(options.padding)}},
                                                    options);
}

ModuleUnderTest group_norm_under_test(std::int64_t channels, std::int64_t groups) {
  return make_module_under_test<GroupNorm, GroupNormCost>(
      ModuleKind::kGroupNorm, channels, {{"channels", number(channels)}, {"groups", number(groups)}}, channels, groups);
}

ModuleUnderTest upsample_under_test(std::int64_t channels) {
  return make_module_under_test<Upsample, UpsampleCost>(ModuleKind::kUpsample, channels,
                                                        {{"channels", number(channels)}}, channels);
}

ModuleUnderTest attn_block_under_test(std::int64_t channels, std::int64_t heads) {
  return make_module_under_test<AttnBlock, AttnBlockCost>(
      ModuleKind::kAttnBlock, channels, {{"channels", number(channels)}, {"heads", number(heads)}}, channels, heads);
}

ModuleUnderTest resnet_block_under_test(std::int64_t in_channels, std::int64_t out_channels) {
  return make_module_under_test<ResnetBlock, ResnetBlockCost>(
      ModuleKind::kResnetBlock, in_channels,
      {{"in_channels", number(in_channels)}, {"out_channels", number(out_channels)}}, in_channels, out_channels);
}

ModuleUnderTest decoder_under_test(const AutoEncoderConfig& config) {
  return make_module_under_test<Decoder, DecoderCost>(ModuleKind::kDecoder, config.z_channels, read_numbers(config),
                                                      config);
}

namespace {

/// The same on every rank.
struct Whole {
  TensorMap weights;
  at::Tensor x, grad_out;  ///< grad_out only with_gradient
};

PictureCost picture_in(const ModuleCase& test_case, const CasePlace& place) {
  const PictureSetup& picture = test_case.picture;
  PictureCost cost;
  cost.rank = place.rank;
  cost.batch = picture.batch;
  cost.height = picture.height;
  cost.widths = picture.widths(place.size);
  cost.value_bytes = static_cast<std::int64_t>(c10::elementSize(picture.dtype));
  cost.with_gradient = test_case.with_gradient;
  return cost;
}

/// Parameter gradients are sums over all positions. They should be about 1, and not near 0, where cancellation in
/// float32 would lose digits.
at::Tensor gradient_like(const at::Tensor& out, std::uint64_t seed) {
  const std::int64_t num_positions = out.numel() / out.size(1);
  return (1 + out + seeded_randn(out.sizes(), seed, out.scalar_type())).div_(num_positions);
}

Whole make_whole(const ModuleCase& test_case, int size, std::uint64_t seed) {
  Whole whole;
  whole.x = make_picture(test_case.picture, size, seed);
  SeededWeights weights(seed + 1, test_case.picture.dtype, 0.5);
  const auto module = test_case.module.serial(Weights(weights));
  whole.weights = weights.made();
  if (test_case.with_gradient) {
    const c10::NoGradGuard no_grad;
    whole.grad_out = gradient_like(module(whole.x.clone()), seed + 2);
  }
  return whole;
}

CaseInputs make_inputs(const ModuleCase& test_case, const Whole& whole, const CasePlace& place) {
  const std::vector<std::int64_t> widths = test_case.picture.widths(place.size);
  CaseInputs inputs;
  inputs.numbers = test_case.module.numbers;
  inputs.tensors["input.x"] = own_columns(whole.x, widths, place.rank);
  inputs.tensors["input.widths"] = at::tensor(widths, at::kLong);
  for (const auto& [name, tensor] : whole.weights) inputs.tensors["weight." + name] = tensor.clone();
  if (test_case.with_gradient)
    inputs.tensors["input.grad_out"] = own_columns(whole.grad_out, compute_cost(test_case, place).widths, place.rank);
  return inputs;
}

TensorMap serial_results(const ModuleCase& test_case, const Whole& whole) {
  const at::ScalarType dtype = test_case.in_float64 ? at::kDouble : test_case.picture.dtype;
  CheckpointWeights source(whole.weights, test_case.name, dtype);
  const at::Tensor x = whole.x.to(dtype);
  if (!test_case.with_gradient) {
    const c10::NoGradGuard no_grad;
    return {{"out", test_case.module.serial(Weights(source))(x.clone())}};
  }
  LeafWeights leaves(source);
  const at::Tensor leaf = x.clone().requires_grad_();
  const at::Tensor out = test_case.module.serial(Weights(leaves))(leaf);
  out.backward(whole.grad_out.to(dtype));
  TensorMap results = leaves.gradients();
  results["out"] = out.detach();
  results["x.grad"] = leaf.grad();
  return results;
}

TensorMap compute_expected(const ModuleCase& test_case, const Whole& whole, TensorMap expected,
                           const CasePlace& place) {
  const std::vector<std::int64_t> widths = compute_cost(test_case, place).widths;
  for (auto& [name, tensor] : expected) tensor = tensor.to(test_case.picture.dtype);
  expected["out"] = own_columns(expected["out"], widths, place.rank);
  expected["widths"] = at::tensor(widths, at::kLong);
  if (test_case.with_gradient)
    expected["x.grad"] = own_columns(expected["x.grad"], test_case.picture.widths(place.size), place.rank);
  const CaseInputs inputs = make_inputs(test_case, whole, place);
  if (keeps_its_input(inputs)) expected["x"] = inputs.tensor("input.x");
  return expected;
}

/// What module_call() sends itself: an all-reduce of each parameter's gradient.
CostBound sums_of_gradients(const ModuleCase& test_case, int size) {
  SeededWeights weights(0, test_case.picture.dtype);
  LeafWeights leaves(weights);
  test_case.module.serial(Weights(leaves));
  LedgerEntry spent;
  for (const auto& [name, gradient] : leaves.gradients())
    spent += comm::nominal_cost("all_reduce", size, static_cast<std::int64_t>(gradient.nbytes()));
  return make_bound(spent, "all_reduce");
}

}  // namespace

PictureCost compute_cost(const ModuleCase& test_case, const CasePlace& place) {
  return test_case.module.cost(picture_in(test_case, place));
}

Case make_case(ModuleCase test_case) {
  test_case.picture.channels = test_case.module.in_channels;
  Case result;
  result.task = test_case.task;
  result.name = result.prefix = test_case.name;
  result.tolerance = tolerance_of(test_case.picture.dtype);
  const OncePerWorld<Whole> whole([=](int size, std::uint64_t seed) { return make_whole(test_case, size, seed); });
  const OncePerWorld<TensorMap> serial([=](int size, std::uint64_t seed) {
    return serial_results(test_case, *whole.at({0, size, seed}));
  });
  result.inputs = [=](const CasePlace& place) { return make_inputs(test_case, *whole.at(place), place); };
  result.expected = [=](const CasePlace& place) {
    return compute_expected(test_case, *whole.at(place), *serial.at(place), place);
  };
  result.work = [test_case](const CasePlace& place) {
    const PictureCost whole = test_case.module.cost(in_one_process(picture_in(test_case, place)));
    return ShareBound{least_work(whole), most_work(compute_cost(test_case, place), test_case.flops_per_value)};
  };
  if (!test_case.costed) return result;
  result.bounds = [test_case](const CasePlace& place) {
    std::vector<CostBound> of_call =
        test_case.costs_of_call ? test_case.costs_of_call(place) : std::vector<CostBound>();
    if (test_case.with_gradient) of_call.push_back(sums_of_gradients(test_case, place.size));
    return make_bounds(compute_cost(test_case, place), test_case.task, of_call);
  };
  if (test_case.with_gradient) return result;
  result.memory = [test_case](const CasePlace& place) {
    const PictureCost whole = test_case.module.cost(in_one_process(picture_in(test_case, place)));
    return ShareBound{whole.least_held, compute_cost(test_case, place).most_held};
  };
  return result;
}

Case after_wider(const Case& test_case) {
  Case result = test_case;
  result.inputs = [before = test_case.inputs](const CasePlace& place) {
    CaseInputs inputs = before(place);
    inputs.numbers["after_wider"] = 1;
    return inputs;
  };
  return result;
}

Case every_other_rank(const Case& test_case) {
  const auto inside = [](const CasePlace& place) {
    return CasePlace{place.rank / 2, (place.size + 1 - place.rank % 2) / 2, place.seed};
  };
  Case result = test_case;
  result.inputs = [=](const CasePlace& place) {
    CaseInputs inputs = test_case.inputs(inside(place));
    inputs.numbers["every_other_rank"] = 1;
    return inputs;
  };
  result.expected = [=](const CasePlace& place) { return test_case.expected(inside(place)); };
  if (test_case.work) result.work = [=](const CasePlace& place) { return test_case.work(inside(place)); };
  if (test_case.memory) result.memory = [=](const CasePlace& place) { return test_case.memory(inside(place)); };
  if (test_case.bounds) result.bounds = [=](const CasePlace& place) { return test_case.bounds(inside(place)); };
  for (KnownMistake& mistake : result.known_mistakes)
    mistake.wrong = [inside, wrong = mistake.wrong](const CasePlace& place) { return wrong(inside(place)); };
  return result;
}

}  // namespace lab::vae
