#include "vae_sequence_parallel/tests/attention_checks.h"

#include "common/base/errors.h"
#include "common/launch/run_ranks.h"
#include "common/tensor/compare.h"
#include "common/tensor/describe.h"
#include "common/testing/test.h"
#include "vae_sequence_parallel/layers.h"

namespace lab::vae {
namespace {

WorldSpec world_of(int size, WorldKind kind = WorldKind::kThreads) {
  WorldSpec spec;
  spec.num_ranks = size;
  spec.kind = kind;
  return spec;
}

at::Tensor part(const at::Tensor& x, const std::vector<std::int64_t>& lengths, int rank) {
  return x.split_with_sizes(lengths, 2)[static_cast<std::size_t>(rank)];
}

}  // namespace

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
  const auto outcome = run_ranks(world_of(5), [&](Communicator& world) {
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
  for (const RankOutcome& rank : outcome.ranks)
    CHECK(compare(rank.tensors.at("actual"), rank.tensors.at("expected"), {1e-12, 1e-12}).close);
}

void check_processes(const AttentionCall& call) {
  const std::vector<std::int64_t> lengths = {3, 0, 4};
  const AttentionData data = random_data({1, 3, 7, 4}, at::kFloat);
  const auto outcome = run_ranks(world_of(3, WorldKind::kProcesses), [&](Communicator& comm) {
    const auto own = [&](const at::Tensor& x) { return part(x, lengths, comm.rank()); };
    return TensorMap{{"out", call(own(data.q), own(data.k), own(data.v), lengths, comm)}};
  });
  if (outcome.failure) FAIL(outcome.failure->message);
  std::vector<at::Tensor> parts;
  for (const RankOutcome& rank : outcome.ranks) parts.push_back(rank.tensors.at("out"));
  CHECK(at::equal(at::cat(parts, 2), parallel_output(data, lengths, call).at("out")));
}

void check_refused(int size, const std::string& text, const std::function<void(Communicator&)>& body) {
  const auto outcome = run_ranks(world_of(size), RankBody([&](Communicator& comm, RankOutcome& own) {
                                   try {
                                     body(comm);
                                   } catch (const ContractError& failure) {
                                     if (std::string(failure.what()).find(text) == std::string::npos) throw;
                                     const LedgerEntry spent = comm.endpoint().ledger().total();
                                     if (spent.calls + spent.messages == 0) own.tensors["refused"] = at::ones({});
                                   }
                                 }));
  CAPTURE(text);
  if (outcome.failure) FAIL_CHECK(outcome.failure->message);
  for (const RankOutcome& rank : outcome.ranks) CHECK(rank.tensors.count("refused") == 1);
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
  const auto outcome = run_ranks(world_of(2), RankBody([&](Communicator& comm, RankOutcome&) {
                                   const std::int64_t length = comm.rank() == 1 ? 4 : 3;
                                   const at::Tensor x = at::ones({1, 2, length, 4});
                                   call(x, x, x, {length, length}, comm);
                                 }));
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kContract));
}

}  // namespace lab::vae
