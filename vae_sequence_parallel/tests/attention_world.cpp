#include "vae_sequence_parallel/tests/attention_world.h"

#include <c10/core/GradMode.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "common/api/compare.h"
#include "common/api/errors.h"
#include "common/api/partition.h"
#include "common/api/shapes.h"
#include "common/comm/messages/get_endpoint.h"
#include "common/tensor/seeded.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"
#include "vae_sequence_parallel/layers.h"

namespace lab::vae {
namespace {

at::Tensor part(const at::Tensor& x, const std::vector<std::int64_t>& lengths, int rank) {
  return x.split_with_sizes(lengths, 2)[static_cast<std::size_t>(rank)];
}

/// A rank's positions, contiguous in memory, then the heads.
at::Tensor own_positions(const at::Tensor& x, const std::vector<std::int64_t>& lengths, int rank) {
  return part(x, lengths, rank).transpose(1, 2).contiguous().transpose(1, 2);
}

AttentionData widened(const AttentionData& data) {
  const auto wide = [](const at::Tensor& x) { return x.to(at::kDouble); };
  return {wide(data.q), wide(data.k), wide(data.v), wide(data.grad_out), data.exact_scores};
}

/// A value and its error bound in units of roundoff.
struct Rounded {
  at::Tensor value, units;
};

Rounded exact(const at::Tensor& value) {
  return {value, at::zeros_like(value)};
}

/// `a` times `b`, a sum over a's last dimension.
Rounded product(const Rounded& a, const Rounded& b) {
  const auto terms = static_cast<double>(a.value.size(-1));
  return {at::matmul(a.value, b.value),
          at::matmul(a.value.abs(), terms * b.value.abs() + b.units) + at::matmul(a.units, b.value.abs())};
}

Rounded transposed(const Rounded& a) {
  return {a.value.transpose(-1, -2), a.units.transpose(-1, -2)};
}

/// Error bounds of attention's output and gradients, in units of roundoff.
TensorMap rounding_units(const AttentionData& data) {
  const AttentionData wide = widened(data);
  const Rounded q = exact(wide.q), k = exact(wide.k), v = exact(wide.v), grad_out = exact(wide.grad_out);
  const double scale = 1 / std::sqrt(static_cast<double>(wide.q.size(-1)));
  Rounded scores = product(q, transposed(k));
  scores.value.mul_(scale);
  scores.units = data.exact_scores ? at::zeros_like(scores.value) : scores.units * scale + scores.value.abs();
  Rounded weights = exact(at::softmax(scores.value, -1));
  // An error in a score is a relative error of its weight, and of every other through the sum; a weight is corrected
  // at most once for each block that follows.
  const auto num_keys = static_cast<double>(wide.k.size(-2));
  const at::Tensor of_sum = (weights.value * scores.units).sum(-1, true) + 2 * num_keys + 8;
  weights.units = weights.value * (scores.units + of_sum);
  const Rounded grad_weights = product(grad_out, transposed(v));
  const at::Tensor mean = (weights.value * grad_weights.value).sum(-1, true);
  const at::Tensor mean_units = (weights.units * grad_weights.value.abs() + weights.value * grad_weights.units +
                                 num_keys * weights.value * grad_weights.value.abs())
                                    .sum(-1, true);
  const at::Tensor spread = grad_weights.value - mean;
  const Rounded grad_scores = {
      scale * weights.value * spread,
      scale * (weights.units * spread.abs() + weights.value * (grad_weights.units + mean_units + 3 * spread.abs()))};
  return {{"out", product(weights, v).units},
          {"q", product(grad_scores, k).units},
          {"k", product(transposed(grad_scores), q).units},
          {"v", product(transposed(weights), grad_out).units}};
}

TensorMap joined(const launch::WorldOutcome& outcome) {
  if (outcome.failure) throw std::runtime_error(outcome.failure->message);
  TensorMap whole;
  for (const auto& [name, part] : outcome.ranks[0].tensors) {
    std::vector<at::Tensor> parts;
    for (const launch::RankOutcome& rank : outcome.ranks) parts.push_back(rank.tensors.at(name));
    whole[name] = at::cat(parts, 2);
  }
  return whole;
}

TensorMap with_gradients(
    const AttentionData& data,
    const std::function<at::Tensor(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v)>& call) {
  const auto leaf = [](const at::Tensor& x) { return x.detach().requires_grad_(); };
  const at::Tensor q = leaf(data.q), k = leaf(data.k), v = leaf(data.v);
  const at::Tensor before = at::stack({q, k, v}).detach();
  const at::Tensor out = call(q, k, v);
  // As after from_heads(): the gradient arrives transposed in memory.
  (out.transpose(1, 2) * data.grad_out.transpose(1, 2).contiguous()).sum().backward();
  if (!at::equal(at::stack({q, k, v}).detach(), before)) throw std::runtime_error("q, k or v was changed");
  return {{"out", out.detach()}, {"q", q.grad()}, {"k", k.grad()}, {"v", v.grad()}};
}

}  // namespace

AttentionData random_data(at::IntArrayRef shape, at::ScalarType dtype) {
  return {seeded_randn(shape, 1, dtype), seeded_randn(shape, 2, dtype), seeded_randn(shape, 3, dtype),
          seeded_randn(shape, 4, dtype)};
}

AttentionData data_with_levels(at::IntArrayRef shape, at::ScalarType dtype, const std::vector<std::int64_t>& levels) {
  AttentionData data = random_data(shape, dtype);
  for (at::Tensor* x : {&data.q, &data.k, &data.v, &data.grad_out}) x->mul_(8).round_().div_(8).clamp_(-2, 2);
  constexpr double kHeight = 128;
  data.q.select(3, 0).fill_(kHeight);
  const double scale = std::sqrt(static_cast<double>(shape[3]));
  data.k.select(3, 0).copy_(at::tensor(levels, at::kDouble).mul_(scale / kHeight));
  data.exact_scores = true;
  return data;
}

TensorMap serial_results(const AttentionData& data) {
  return with_gradients(widened(data), attention);
}

TensorMap parallel_results(const AttentionData& data, const std::vector<std::int64_t>& lengths,
                           const AttentionCall& call) {
  return joined(launch::run_ranks(threads(static_cast<int>(lengths.size())), [&](Communicator& comm) {
    const auto own = [&](const at::Tensor& x) { return own_positions(x, lengths, comm.rank()); };
    return with_gradients(
        {own(data.q), own(data.k), own(data.v), own(data.grad_out), data.exact_scores},
        [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) { return call(q, k, v, lengths, comm); });
  }));
}

TensorMap parallel_output(const AttentionData& data, const std::vector<std::int64_t>& lengths,
                          const AttentionCall& call) {
  return joined(launch::run_ranks(threads(static_cast<int>(lengths.size())), [&](Communicator& comm) {
    const c10::NoGradGuard no_grad;
    const auto own = [&](const at::Tensor& x) { return own_positions(x, lengths, comm.rank()); };
    return TensorMap{{"out", call(own(data.q), own(data.k), own(data.v), lengths, comm)}};
  }));
}

double worst_error(const TensorMap& actual, const TensorMap& expected) {
  double worst = 0;
  for (const auto& [name, tensor] : actual) {
    const double error = compare(tensor.to(at::kDouble), expected.at(name)).relative_norm;
    worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
  }
  return worst;
}

double worst_rounding(const TensorMap& actual, const TensorMap& expected, const AttentionData& data) {
  const double unit = data.q.scalar_type() == at::kDouble ? 0x1p-53 : 0x1p-24;
  const TensorMap units = rounding_units(data);
  double worst = 0;
  for (const auto& [name, tensor] : actual) {
    const double error = (tensor.to(at::kDouble) - expected.at(name)).norm().item<double>();
    if (error == 0) continue;
    const double part = error / (unit * units.at(name).norm().item<double>());
    worst = std::isnan(part) ? std::numeric_limits<double>::infinity() : std::max(worst, part);
  }
  return worst;
}

std::vector<std::vector<std::int64_t>> length_patterns(int size) {
  const auto count = static_cast<std::size_t>(size);
  std::vector<std::int64_t> mixed = {0, 5, 1, 2, 3, 0, 7, 1};
  mixed.resize(count);
  std::vector<std::int64_t> one_has_all(count, 0);
  one_has_all[count / 2] = 6;
  return {std::vector<std::int64_t>(count, 4), uneven_sizes(2 * size + 1, size), mixed, one_has_all};
}

std::int64_t total(const std::vector<std::int64_t>& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}

void check_same(const AttentionCall& call, const AttentionData& data, const std::vector<std::int64_t>& lengths) {
  CAPTURE(lengths.size());
  CAPTURE(describe(data.q));
  const TensorMap serial = serial_results(data);
  const TensorMap parallel = parallel_results(data, lengths, call);
  const TensorMap output = parallel_output(data, lengths, call);
  CHECK(worst_rounding(output, serial, data) <= 1);
  CHECK(worst_rounding(parallel, serial, data) <= 1);
  CHECK(at::equal(output.at("out"), parallel.at("out")));
  CHECK(output.at("out").dtype() == data.q.dtype());
}

void check_large_scores(const AttentionCall& call, std::int64_t heads, const std::vector<std::int64_t>& lengths) {
  const std::int64_t positions = total(lengths);
  const std::vector<std::function<std::int64_t(std::int64_t)>> level_of_position = {
      [](std::int64_t) { return 16384; },
      [](std::int64_t) { return -16384; },
      [](std::int64_t n) { return n; },
      [&](std::int64_t n) { return positions - n; },
      [](std::int64_t n) { return n % 3 == 1 ? -4000 : 4000; },          // within a block, many have no weight
      [&](std::int64_t n) { return n < positions / 2 ? -4000 : 4000; },  // whole blocks have none
  };
  for (const auto& level : level_of_position) {
    std::vector<std::int64_t> levels;
    for (std::int64_t n = 0; n < positions; ++n) levels.push_back(level(n));
    for (const at::ScalarType dtype : {at::kFloat, at::kDouble})
      check_same(call, data_with_levels({2, heads, positions, 16}, dtype, levels), lengths);
  }
}

void check_groups(const AttentionCall& call) {
  const std::vector<std::vector<int>> groups = {{3, 1}, {2, 0, 4}};
  const AttentionData data = random_data({1, 6, 10, 4}, at::kDouble);
  const auto outcome = launch::run_ranks(threads(5), [&](Communicator& world) {
    Communicator comm = world.subgroup(groups[world.rank() % 2 == 0 ? 1 : 0]);
    std::vector<std::int64_t> lengths = {2, 5, 3};
    lengths.resize(static_cast<std::size_t>(comm.size()));
    const auto whole = [&](const at::Tensor& x) { return x.narrow(2, 0, total(lengths)).clone().requires_grad_(); };
    const auto own = [&](const at::Tensor& x) { return part(x, lengths, comm.rank()).detach().requires_grad_(); };
    const at::Tensor q = whole(data.q), k = whole(data.k), v = whole(data.v);
    const at::Tensor own_q = own(q), own_k = own(k), own_v = own(v);
    const at::Tensor out = attention(q, k, v), own_out = call(own_q, own_k, own_v, lengths, comm);
    out.sin().sum().backward();
    own_out.sin().sum().backward();
    return TensorMap{{"actual", at::stack({own_out.detach(), own_q.grad(), own_k.grad(), own_v.grad()})},
                     {"expected", at::stack({own(out), own(q.grad()), own(k.grad()), own(v.grad())}).detach()}};
  });
  if (outcome.failure) FAIL(outcome.failure->message);
  for (const launch::RankOutcome& rank : outcome.ranks)
    CHECK(compare(rank.tensors.at("actual"), rank.tensors.at("expected"), {1e-12, 1e-12}).close);
}

void check_processes(const AttentionCall& call) {
  const std::vector<std::int64_t> lengths = {3, 0, 4};
  const AttentionData data = random_data({1, 3, 7, 4}, at::kFloat);
  const auto outcome = launch::run_ranks(choose_world<Processes>(3), [&](Communicator& comm) {
    const auto own = [&](const at::Tensor& x) { return part(x, lengths, comm.rank()); };
    return TensorMap{{"out", call(own(data.q), own(data.k), own(data.v), lengths, comm)}};
  });
  if (outcome.failure) FAIL(outcome.failure->message);
  std::vector<at::Tensor> parts;
  for (const launch::RankOutcome& rank : outcome.ranks) parts.push_back(rank.tensors.at("out"));
  CHECK(at::equal(at::cat(parts, 2), parallel_output(data, lengths, call).at("out")));
}

void check_refused(int size, const std::string& text, const std::function<void(Communicator&)>& body) {
  const auto outcome =
      launch::run_ranks(threads(size), launch::RankBody([&](Communicator& comm, launch::RankOutcome& own) {
                          try {
                            body(comm);
                          } catch (const ContractError& failure) {
                            if (std::string(failure.what()).find(text) == std::string::npos) throw;
                            const LedgerEntry spent = get_endpoint(comm).ledger().total();
                            if (spent.calls + spent.messages == 0) own.tensors["refused"] = at::ones({});
                          }
                        }));
  CAPTURE(text);
  if (outcome.failure) FAIL_CHECK(outcome.failure->message);
  for (const launch::RankOutcome& rank : outcome.ranks) CHECK(rank.tensors.count("refused") == 1);
}

void check_refusals(const AttentionCall& call) {
  const at::Tensor x = at::ones({1, 2, 3, 4});
  const auto refused = [&](const std::string& text, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const std::vector<std::int64_t>& lengths) {
    check_refused(2, text, [&](Communicator& comm) { call(q, k, v, lengths, comm); });
  };
  refused("expected one length per rank, got 3", x, x, x, {3});
  refused("expected one length per rank, got 3 -3", x, x, x, {3, -3});
  refused("expected q [batch, heads, 4, channels of a head], got float32 [1, 2, 3, 4]", x, x, x, {4, 4});
  refused("expected q [batch, heads, 3, channels of a head], got float32 [2, 3, 4]", x[0], x[0], x[0], {3, 3});
  refused("expected q and k alike", x, x.narrow(2, 0, 2), x, {3, 3});
  refused("expected q and v alike", x, x, x.to(at::kDouble), {3, 3});
}

void check_disagreement(const AttentionCall& call) {
  const auto outcome = launch::run_ranks(threads(2), launch::RankBody([&](Communicator& comm, launch::RankOutcome&) {
                                           const std::int64_t length = comm.rank() == 1 ? 4 : 3;
                                           const at::Tensor x = at::ones({1, 2, length, 4});
                                           call(x, x, x, {length, length}, comm);
                                         }));
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kContract));
}

}  // namespace lab::vae
