#include "optC_model_parallel/model/learner.h"

#include <fmt/format.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>
#include <torch/serialize/archive.h>

#include <cmath>
#include <cstring>
#include <sstream>
#include <utility>

#include "common/api/errors.h"

namespace lab::optc {
namespace {

constexpr const char* kOptimizer = "optimizer";

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const Tensors& tensors, const OptimizerOptions& options) {
  for (const double number : {options.learning_rate, options.momentum}) {
    if (!std::isfinite(number) || number < 0)
      throw UsageError(fmt::format("optimizer: expected a learning rate and a momentum of 0 or more, got {} and {}",
                                   options.learning_rate, options.momentum));
  }
  if (options.kind == "sgd")
    return std::make_unique<torch::optim::SGD>(
        tensors, torch::optim::SGDOptions(options.learning_rate).momentum(options.momentum));
  if (options.kind == "adam")
    return std::make_unique<torch::optim::Adam>(tensors, torch::optim::AdamOptions(options.learning_rate));
  throw UsageError(fmt::format("optimizer '{}': expected sgd or adam", options.kind));
}

}  // namespace

Learner::Learner(ModelSpec model, Parameters first, const OptimizerOptions& options)
    : model_(std::move(model)),
      parameters_(std::move(first)),
      optimizer_(make_optimizer(learning(model_, parameters_), options)) {}

Learner::~Learner() = default;
Learner::Learner(Learner&&) noexcept = default;

void Learner::step() {
  optimizer_->step();
  for (const at::Tensor& tensor : learning(model_, parameters_)) tensor.mutable_grad() = at::Tensor();
}

TensorMap Learner::tensors() const {
  TensorMap all = named(model_, parameters_);
  for (auto& [name, tensor] : all)
    tensor = tensor.to(at::kCPU, tensor.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
  return all;
}

TensorMap Learner::state() const {
  torch::serialize::OutputArchive archive;
  optimizer_->save(archive);
  std::ostringstream stream;
  archive.save_to(stream);
  const std::string bytes = stream.str();
  TensorMap all = tensors();
  at::Tensor& kept = all[kOptimizer] = at::empty({static_cast<std::int64_t>(bytes.size())}, at::kByte);
  std::memcpy(kept.data_ptr(), bytes.data(), bytes.size());
  return all;
}

void Learner::load_state(const TensorMap& state) {
  const auto found = state.find(kOptimizer);
  if (found == state.end()) throw UsageError("expected the state of a training, got one without 'optimizer'");
  assign(model_, parameters_, state);
  const at::Tensor kept = found->second.contiguous();
  torch::serialize::InputArchive archive;
  archive.load_from(static_cast<const char*>(kept.data_ptr()), static_cast<std::size_t>(kept.numel()),
                    parameters_.layers.front().front().device());
  optimizer_->state().clear();
  optimizer_->load(archive);
}

}  // namespace lab::optc
