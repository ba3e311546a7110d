#include "a5_pipeline/cases/comparison_trials.h"

#include <cmath>
#include <limits>

#include "common/tensor/seeded.h"

namespace lab::a5 {
namespace {

constexpr double kRounding = 1e-7;  ///< within float32's tolerance, and not 0
constexpr double kWrong = 1e-3;     ///< far beyond it

/// Three micro-batches of outputs, of this size.
std::vector<at::Tensor> make_outputs(std::uint64_t seed, double size) {
  std::vector<at::Tensor> outputs;
  for (std::uint64_t i = 0; i < 3; ++i) outputs.push_back(seeded_randn({2, 3, 8}, seed + i) * size);
  return outputs;
}

/// With another one in the place of one of them.
std::vector<at::Tensor> with_one(std::vector<at::Tensor> outputs, std::size_t which, const at::Tensor& other) {
  outputs[which] = other;
  return outputs;
}

/// With one of them off by this fraction.
std::vector<at::Tensor> with_one_off(const std::vector<at::Tensor>& outputs, std::size_t which, double part) {
  return with_one(outputs, which, outputs[which] * (1 + part));
}

/// The same values, each in the place of its neighbour: of the same norm and the same sum.
at::Tensor rolled(const at::Tensor& tensor) {
  return tensor.reshape(-1).roll(1).view(tensor.sizes());
}

/// With another value in one place.
at::Tensor with_element(const at::Tensor& tensor, std::int64_t place, double value) {
  const at::Tensor changed = tensor.clone();
  changed.view(-1)[place] = value;
  return changed;
}

/// With one element of the other sign, the one that is largest: of the same norm.
at::Tensor with_sign_changed(const at::Tensor& tensor) {
  const auto place = tensor.abs().argmax().item<std::int64_t>();
  return with_element(tensor, place, -tensor.view(-1)[place].item<double>());
}

/// With one element that is not 0, but far below what the norm may be off by.
at::Tensor with_speck(const at::Tensor& tensor) {
  return with_element(tensor, 3, kRounding * kRounding * tensor.norm().item<double>());
}

// Off by this part of its norm. Other norms, such as the largest difference or the sum of all, see more or less of it.
at::Tensor off_everywhere(const at::Tensor& tensor, double part) {
  return tensor + part * tensor.norm() / std::sqrt(static_cast<double>(tensor.numel()));
}
at::Tensor off_in_one_place(const at::Tensor& tensor, double part) {
  return with_element(tensor, 5, tensor.view(-1)[5].item<double>() + part * tensor.norm().item<double>());
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A tolerance says how far a norm may be off, whatever the tensors' dtype: the trials have it of all dtypes.
const Tolerance kOfFloat32 = tolerance_of(at::kFloat), kOfFloat64 = tolerance_of(at::kDouble),
                kOfBfloat16 = tolerance_of(at::kBFloat16);

/// So wide that it matters of which side it is a part, the baseline's or the other one's.
Tolerance quarter() {
  Tolerance tolerance = kOfBfloat16;
  tolerance.relative_norm = 0.25;
  return tolerance;
}
constexpr double kMoreThanAQuarter = 0.3;    ///< less than one of what it is added to
constexpr double kLessThanAQuarter = -0.22;  ///< more than one of what it is taken from

/// Off by so much that one tolerance accepts it and the next one refuses it.
double halve_tolerance(const Tolerance& tolerance) {
  return tolerance.relative_norm / 2;
}
double twice(const Tolerance& tolerance) {
  return tolerance.relative_norm * 2;
}
constexpr double kBeyond = 1.5, kWithin = 0.75;  ///< of a tolerance

}  // namespace

std::vector<JudgedOutputs> outputs_trials(std::uint64_t seed) {
  const std::vector<at::Tensor> right = make_outputs(seed, 1), tiny = make_outputs(seed, 1e-7);
  const std::vector<at::Tensor> zeros(3, at::zeros({2, 3, 8}));
  const std::vector<at::Tensor> with_nan = with_one(right, 1, with_element(right[1], 5, kNaN));
  const std::vector<at::Tensor> one_zero = with_one(right, 1, zeros[1]);
  // No two of these can be told apart by their norms or sums.
  const std::vector<at::Tensor> alike = {right[0], rolled(right[0]), rolled(rolled(right[0]))};
  // One micro-batch is far smaller than the others, so a norm over all of them does not show its errors.
  const std::vector<at::Tensor> one_small = {right[0], right[1] * 1e-8, right[2]};
  const std::vector<at::Tensor> with_hole = with_one(right, 2, with_element(right[2], 3, 0));
  std::vector<at::Tensor> exact;
  for (const at::Tensor& output : right) exact.push_back(output.to(at::kDouble));
  return {
      {"the same", {right, right}, 1},
      {"the same but for rounding", {with_one_off(right, 1, kRounding), right}, 1},
      {"the last micro-batch off", {with_one_off(right, 2, kWrong), right}, 0},
      {"the first micro-batch off", {with_one_off(right, 0, kWrong), right}, 0},
      {"two micro-batches exchanged", {{right[1], right[0], right[2]}, right}, 0},
      {"two micro-batches of the same norm and sum exchanged", {{alike[0], alike[2], alike[1]}, alike}, 0},
      {"one micro-batch of the wrong sign", {with_one(right, 1, -right[1]), right}, 0},
      {"one micro-batch rolled by one element", {with_one(right, 2, rolled(right[2])), right}, 0},
      {"one element of the wrong sign", {with_one(right, 0, with_sign_changed(right[0])), right}, 0},
      {"one element next to 0, off by far less than the norm",
       {with_one(right, 2, with_speck(with_hole[2])), with_hole},
       1},
      {"a small micro-batch of the wrong sign", {with_one(one_small, 1, -one_small[1]), one_small}, 0},
      {"one micro-batch missing", {{right[0], right[1]}, right}, 0},
      {"one micro-batch more", {{right[0], right[1], right[2], right[2]}, right}, 0},
      {"a NaN", {with_nan, right}, 0},
      {"a NaN in the baseline", {right, with_nan}, 0},
      {"a NaN on both sides", {with_nan, with_nan}, 0},
      {"tiny values, the same", {tiny, tiny}, 1},
      {"tiny values, nothing right", {{tiny[2], tiny[0], tiny[1]}, tiny}, 0},
      {"zeros on both sides", {zeros, zeros}, 0},
      {"zeros on both sides in one micro-batch", {one_zero, one_zero}, 0},
      {"the last rank has none", {{}, right, 3, 4}, 0},
      {"a rank that has none", {{}, right, 1, 4}, -1},
      {"the only rank", {right, right, 0, 1}, 1},
      {"the last of two ranks, off", {with_one_off(right, 1, kWrong), right, 1, 2}, 0},
      {"the first of two ranks", {{}, right, 0, 2}, -1},
      {"float64, the same", {exact, exact, 3, 4, kOfFloat64}, 1},
      {"float64, off by float32's rounding", {with_one_off(exact, 2, kRounding), exact, 3, 4, kOfFloat64}, 0},
      {"float64, off by half", {with_one_off(exact, 2, halve_tolerance(kOfFloat64)), exact, 3, 4, kOfFloat64}, 1},
      {"float64, off by twice", {with_one_off(exact, 2, twice(kOfFloat64)), exact, 3, 4, kOfFloat64}, 0},
      {"float32's tolerance, off by half", {with_one_off(right, 0, halve_tolerance(kOfFloat32)), right}, 1},
      {"float32's tolerance, off by twice", {with_one_off(right, 0, twice(kOfFloat32)), right}, 0},
      {"bfloat16's tolerance, off by half",
       {with_one_off(right, 1, halve_tolerance(kOfBfloat16)), right, 3, 4, kOfBfloat16},
       1},
      {"bfloat16's tolerance, off by twice", {with_one_off(right, 1, twice(kOfBfloat16)), right, 3, 4, kOfBfloat16}, 0},
      {"every element off by as much, together by more than the tolerance",
       {with_one(right, 2, off_everywhere(right[2], kBeyond * kOfBfloat16.relative_norm)), right, 3, 4, kOfBfloat16},
       0},
      {"one element off by more than the tolerance of all",
       {with_one(right, 0, off_in_one_place(right[0], kBeyond * kOfBfloat16.relative_norm)), right, 3, 4, kOfBfloat16},
       0},
      {"one element off by less than the tolerance of all",
       {with_one(right, 0, off_in_one_place(right[0], kWithin * kOfBfloat16.relative_norm)), right, 3, 4, kOfBfloat16},
       1},
      {"off by more than a quarter of the baseline",
       {with_one_off(right, 1, kMoreThanAQuarter), right, 3, 4, quarter()},
       0},
      {"off by less than a quarter of the baseline",
       {with_one_off(right, 0, kLessThanAQuarter), right, 3, 4, quarter()},
       1}};
}

std::vector<JudgedGradients> gradients_trials(std::uint64_t seed) {
  // The gradients of a real model are small, so these are too.
  TensorMap whole;
  std::uint64_t offset = 100;
  // No layer is another one by its first or last digit.
  for (const char* layer : {"layer1", "layer2", "layer12", "layer13"}) {
    whole[std::string(layer) + ".fc1"] = seeded_randn({6, 4}, seed + offset++) * 1e-6;
    whole[std::string(layer) + ".fc2"] = seeded_randn({4, 6}, seed + offset++) * 1e-6;
  }
  whole["layer13.fc2"] = rolled(whole["layer12.fc2"]);  // these two cannot be told apart by their norms or sums
  const TensorMap stage = {{"layer12.fc1", whole["layer12.fc1"]},
                           {"layer12.fc2", whole["layer12.fc2"]},
                           {"layer13.fc1", whole["layer13.fc1"]},
                           {"layer13.fc2", whole["layer13.fc2"]}};
  const auto changed = [&](const std::string& name, const at::Tensor& gradient) {
    TensorMap gradients = stage;
    gradients[name] = gradient;
    return gradients;
  };
  const auto off = [&](const std::string& name, double part) { return changed(name, stage.at(name) * (1 + part)); };
  const auto verdicts = [](std::int64_t fc1_12, std::int64_t fc2_12, std::int64_t fc1_13, std::int64_t fc2_13) {
    return std::map<std::string, std::int64_t>{
        {"layer12.fc1", fc1_12}, {"layer12.fc2", fc2_12}, {"layer13.fc1", fc1_13}, {"layer13.fc2", fc2_13}};
  };
  TensorMap silent = whole;
  silent["layer12.fc2"] = at::zeros({4, 6});
  TensorMap exchanged = stage;
  std::swap(exchanged["layer12.fc2"], exchanged["layer13.fc2"]);
  TensorMap with_hole = whole;
  with_hole["layer13.fc1"] = with_element(whole["layer13.fc1"], 3, 0);
  const at::Tensor &first = stage.at("layer12.fc1"), &last = stage.at("layer13.fc2");
  TensorMap exact, without_last = whole;
  for (const auto& [name, gradient] : stage) exact[name] = gradient.to(at::kDouble);
  without_last.erase("layer13.fc2");
  const auto exact_off = [&](double part) {
    TensorMap gradients = exact;
    gradients["layer12.fc1"] = exact["layer12.fc1"] * (1 + part);
    return gradients;
  };
  return {
      {"the same", {stage, whole}, verdicts(1, 1, 1, 1)},
      {"rounding", {off("layer12.fc1", kRounding), whole}, verdicts(1, 1, 1, 1)},
      {"not the last layer's", {changed("layer12.fc1", first * 2), whole}, verdicts(0, 1, 1, 1)},
      {"divided by m", {changed("layer13.fc2", last / 8), whole}, verdicts(1, 1, 1, 0)},
      {"of the wrong sign", {changed("layer13.fc2", -last), whole}, verdicts(1, 1, 1, 0)},
      {"rolled by one element", {changed("layer12.fc1", rolled(first)), whole}, verdicts(0, 1, 1, 1)},
      {"two weights' exchanged, of the same norm and sum", {exchanged, whole}, verdicts(1, 0, 1, 0)},
      {"one element of the wrong sign",
       {changed("layer12.fc1", with_sign_changed(first)), whole},
       verdicts(0, 1, 1, 1)},
      {"one element next to 0, off by far less than the norm",
       {changed("layer13.fc1", with_speck(with_hole["layer13.fc1"])), with_hole},
       verdicts(1, 1, 1, 1)},
      {"a NaN", {changed("layer13.fc1", with_element(stage.at("layer13.fc1"), 5, kNaN)), whole}, verdicts(1, 1, 0, 1)},
      {"all zero", {changed("layer12.fc2", at::zeros({4, 6})), whole}, verdicts(1, 0, 1, 1)},
      {"never arrived", {changed("layer13.fc1", at::Tensor()), whole}, verdicts(1, 1, 0, 1)},
      {"zero on both sides", {changed("layer12.fc2", at::zeros({4, 6})), silent}, verdicts(1, 0, 1, 1)},
      {"float64's tolerance, the same", {stage, whole, kOfFloat64}, verdicts(1, 1, 1, 1)},
      {"float64's tolerance, rounding", {off("layer13.fc1", 2 * kRounding), whole, kOfFloat64}, verdicts(1, 1, 0, 1)},
      {"float64, off by half", {exact_off(halve_tolerance(kOfFloat64)), exact, kOfFloat64}, verdicts(1, 1, 1, 1)},
      {"float64, off by twice", {exact_off(twice(kOfFloat64)), exact, kOfFloat64}, verdicts(0, 1, 1, 1)},
      {"float32's tolerance, off by half",
       {off("layer12.fc1", halve_tolerance(kOfFloat32)), whole},
       verdicts(1, 1, 1, 1)},
      {"float32's tolerance, off by twice", {off("layer12.fc1", twice(kOfFloat32)), whole}, verdicts(0, 1, 1, 1)},
      {"a weight that the baseline lacks", {stage, without_last}, verdicts(-2, -2, -2, -2)},
      {"bfloat16's tolerance, off by half",
       {off("layer12.fc2", halve_tolerance(kOfBfloat16)), whole, kOfBfloat16},
       verdicts(1, 1, 1, 1)},
      {"bfloat16's tolerance, off by twice",
       {off("layer12.fc2", twice(kOfBfloat16)), whole, kOfBfloat16},
       verdicts(1, 0, 1, 1)},
      {"every element off by as much, together by more than the tolerance",
       {changed("layer12.fc1", off_everywhere(first, kBeyond * kOfBfloat16.relative_norm)), whole, kOfBfloat16},
       verdicts(0, 1, 1, 1)},
      {"one element off by more than the tolerance of all",
       {changed("layer13.fc2", off_in_one_place(last, kBeyond * kOfBfloat16.relative_norm)), whole, kOfBfloat16},
       verdicts(1, 1, 1, 0)},
      {"one element off by less than the tolerance of all",
       {changed("layer13.fc2", off_in_one_place(last, kWithin * kOfBfloat16.relative_norm)), whole, kOfBfloat16},
       verdicts(1, 1, 1, 1)},
      {"off by more than a quarter of the baseline",
       {off("layer12.fc1", kMoreThanAQuarter), whole, quarter()},
       verdicts(0, 1, 1, 1)},
      {"off by less than a quarter of the baseline",
       {off("layer13.fc1", kLessThanAQuarter), whole, quarter()},
       verdicts(1, 1, 1, 1)}};
}

}  // namespace lab::a5
