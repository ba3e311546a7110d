#include "vae_sequence_parallel/tests/width_world.h"

#include <functional>
#include <numeric>
#include <stdexcept>

#include "common/tensor/exact_data.h"
#include "common/tensor/seeded.h"
#include "common/testing/worlds.h"
#include "vae_sequence_parallel/calls/leaf_weights.h"
#include "vae_sequence_parallel/cases/case_pictures.h"
#include "vae_sequence_parallel/model/seeded_weights.h"

namespace lab::vae {
namespace {

/// Integers, so that every sum over a convolution's window is exact.
class ExactWeights : public WeightSource {
 public:
  explicit ExactWeights(at::ScalarType dtype) : dtype_(dtype) {}
  at::Tensor get(const std::string& name, at::IntArrayRef shape) override {
    return exact_values(shape, dtype_, std::hash<std::string>()(name));
  }

 private:
  at::ScalarType dtype_;
};

/// In another dtype.
class WideWeights : public WeightSource {
 public:
  WideWeights(WeightSource& source, at::ScalarType dtype) : source_(source), dtype_(dtype) {}
  at::Tensor get(const std::string& name, at::IntArrayRef shape) override {
    return source_.get(name, shape).to(dtype_);
  }

 private:
  WeightSource& source_;
  at::ScalarType dtype_;
};

at::Tensor grad_of_out(const WidthTrial& trial, at::IntArrayRef shape) {
  constexpr std::uint64_t kSeed = 71;
  const at::ScalarType dtype = trial.x.scalar_type();
  return trial.exact ? exact_values(shape, dtype, kSeed) : 1 + seeded_randn(shape, kSeed, dtype);
}

/// Calls `body` with the trial's parameters in this dtype and adds their gradients to its results.
TensorMap with_leaves(const WidthTrial& trial, at::ScalarType dtype,
                      const std::function<TensorMap(const Weights&)>& body) {
  SeededWeights seeded(7, trial.x.scalar_type(), 0.5);
  ExactWeights exact(trial.x.scalar_type());
  WideWeights wide(trial.exact ? static_cast<WeightSource&>(exact) : seeded, dtype);
  LeafWeights leaves(wide);
  TensorMap results = body(Weights(leaves));
  results.merge(leaves.gradients());
  return results;
}

bool is_of_parameter(const std::string& name) {
  return name != "out" && name != "x.grad";
}

TensorMap one_rank(const WidthTrial& trial, Communicator& comm) {
  return with_leaves(trial, trial.x.scalar_type(), [&](const Weights& weights) {
    const at::Tensor x = own_columns(trial.x, trial.widths, comm.rank()).requires_grad_();
    const WidthShard out = trial.parallel(weights, {x, trial.widths}, comm);
    check_shard(out, 0, comm.rank(), comm.size(), "out");
    std::vector<std::int64_t> shape = out.columns.sizes().vec();
    shape[3] = out.total_width();
    out.columns.backward(own_columns(grad_of_out(trial, shape), out.widths, comm.rank()));
    return TensorMap{{"out", out.columns.detach()}, {"x.grad", x.grad()}};
  });
}

}  // namespace

TensorMap serial_results(const WidthTrial& trial, bool in_float64) {
  const at::ScalarType dtype = in_float64 ? at::kDouble : trial.x.scalar_type();
  TensorMap results = with_leaves(trial, dtype, [&](const Weights& weights) {
    const at::Tensor x = trial.x.to(dtype).clone(at::MemoryFormat::ChannelsLast).requires_grad_();
    const at::Tensor out = trial.serial(weights, x);
    out.backward(grad_of_out(trial, out.sizes()).to(dtype));
    return TensorMap{{"out", out.detach()}, {"x.grad", x.grad()}};
  });
  for (auto& named : results) named.second = named.second.to(at::kDouble);
  return results;
}

TensorMap parallel_results(const WidthTrial& trial) {
  const launch::WorldOutcome outcome = launch::run_ranks(threads(static_cast<int>(trial.widths.size())),
                                                         [&](Communicator& comm) { return one_rank(trial, comm); });
  if (outcome.failure) throw std::runtime_error(outcome.failure->message);
  TensorMap whole;
  for (const auto& named : outcome.ranks[0].tensors) {
    std::vector<at::Tensor> parts;
    for (const launch::RankOutcome& rank : outcome.ranks) parts.push_back(rank.tensors.at(named.first).to(at::kDouble));
    whole[named.first] = is_of_parameter(named.first) ? at::stack(parts).sum(0) : at::cat(parts, 3);
  }
  return whole;
}

std::vector<std::vector<std::int64_t>> width_patterns(int size) {
  const auto count = static_cast<std::size_t>(size);
  std::vector<std::int64_t> first_more(count, 1), second_more(count, 1), every_other(count, 0), last_only(count, 0);
  first_more.front() = 2;
  second_more[count > 1 ? 1 : 0] = 4;
  for (std::size_t i = 0; i < count; i += 2) every_other[i] = 3;
  last_only.back() = 5;
  return {std::vector<std::int64_t>(count, 2), first_more, second_more, every_other, last_only};
}

std::int64_t compute_total(const std::vector<std::int64_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), std::int64_t{0});
}

}  // namespace lab::vae
