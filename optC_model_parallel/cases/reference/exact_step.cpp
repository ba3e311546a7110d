#include "optC_model_parallel/cases/reference/exact_step.h"

#include "common/tensor/seeded.h"
#include "optC_model_parallel/model/images.h"

namespace lab::optc {
namespace {

constexpr double kPerturbation = 1.0 / (1 << 16);  ///< relative
constexpr double kLogitGradientPerturbation =
    1.0 / (1 << 21);  ///< absolute: a probability near 1 is off by 2^-24 or two

/// Normally distributed errors, a different one for each element of each tensor.
class Perturbation {
 public:
  explicit Perturbation(std::uint64_t seed) : seed_(seed) {}

  at::Tensor errors(at::IntArrayRef sizes) {
    return seeded_randn(sizes, derived_seed(seed_, rank_seed(seed_, num_drawn_++)), at::kDouble);
  }
  at::Tensor of(const at::Tensor& values) { return values * (1 + kPerturbation * errors(values.sizes())); }

 private:
  std::uint64_t seed_;
  std::int64_t num_drawn_ = 0;
};

}  // namespace

ExactStep exact_step(const ModelSpec& model, const TensorMap& weights, const Images& images, const at::Tensor& indices,
                     std::optional<std::uint64_t> perturbed_by) {
  std::optional<Perturbation> perturbation;
  if (perturbed_by) perturbation.emplace(*perturbed_by);
  TensorMap exact;
  for (const auto& [name, tensor] : weights) {
    const at::Tensor values = tensor.to(at::kDouble);
    exact[name] = perturbation ? perturbation->of(values) : values;
  }
  Parameters parameters = zero_parameters(model, at::kDouble);
  assign(model, parameters, exact);
  at::Tensor x = normalized(images, indices, at::kDouble);
  if (perturbation) x = perturbation->of(x);
  const at::Tensor logits = run_layers(model, parameters, x, Mode::kTraining);
  const at::Tensor loss = at::cross_entropy_loss(logits, labels_of(images, indices));
  // The gradient of this sum is added to that of the logits.
  const at::Tensor added = perturbation ? (perturbation->errors(logits.sizes()) * logits).sum() *
                                              (kLogitGradientPerturbation / static_cast<double>(logits.size(0)))
                                        : at::zeros({}, at::kDouble);
  (loss + added).backward();
  ExactStep step;
  step.loss = loss.item<double>();
  const std::vector<std::string> names = learning_names(model);
  const Tensors tensors = learning(model, parameters);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const at::Tensor& gradient = tensors[i].grad();
    step.gradient[names[i]] = gradient.defined() ? gradient : at::zeros_like(tensors[i]).detach();
  }
  return step;
}

}  // namespace lab::optc
