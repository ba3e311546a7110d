#include "optC_model_parallel/parallel_layers.h"

#include "common/api/communicator.h"
#include "common/api/compare.h"
#include "common/api/partition.h"
#include "common/comm/messages/endpoint.h"
#include "common/comm/messages/get_endpoint.h"
#include "common/comm/messages/ledger.h"
#include "common/tensor/seeded.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// What the cases do not check: stacked layers, when exactly something is sent, and what is the same on all ranks.
namespace lab::optc {
namespace {

constexpr std::int64_t kWidth = 6;
constexpr std::int64_t kHidden = 12;

/// fc_in.weight, fc_in.bias, fc_out.weight, fc_out.bias of a pair that keeps the width.
Tensors whole_pair() {
  return {seeded_randn({kHidden, kWidth}, 1, at::kDouble), seeded_randn({kHidden}, 2, at::kDouble),
          seeded_randn({kWidth, kHidden}, 3, at::kDouble), seeded_randn({kWidth}, 4, at::kDouble)};
}

at::Tensor rows_of_rank(const at::Tensor& whole, std::int64_t dim, Communicator& comm) {
  const Slice slice = even_slice(whole.size(dim), comm.size(), comm.rank());
  return whole.narrow(dim, slice.begin, slice.size).clone().requires_grad_();
}

Tensors pair_shards(Communicator& comm) {
  const Tensors whole = whole_pair();
  return {rows_of_rank(whole[0], 0, comm), rows_of_rank(whole[1], 0, comm), rows_of_rank(whole[2], 1, comm),
          whole[3].clone().requires_grad_()};
}

std::vector<TensorMap> run_on(int size, const std::function<TensorMap(Communicator&)>& body) {
  const launch::WorldOutcome outcome = launch::run_ranks(threads(size), body);
  if (outcome.failure) FAIL(outcome.failure->message);
  std::vector<TensorMap> results;
  for (const launch::RankOutcome& rank : outcome.ranks) results.push_back(rank.tensors);
  return results;
}

std::int64_t num_all_reduces(Communicator& comm) {
  return static_cast<std::int64_t>(get_endpoint(comm).ledger().of("all_reduce").calls);
}

at::Tensor counted(std::int64_t count) {
  return at::full({1}, count, at::kLong);
}

TEST_CASE("a pair sends one all-reduce on the way forward and one on the way back") {
  for (const TensorMap& of_rank : run_on(4, [](Communicator& comm) {
         const at::Tensor x = seeded_randn({5, kWidth}, 7, at::kDouble).requires_grad_();
         const at::Tensor out = parallel_mlp(x, pair_shards(comm), comm.collectives());
         const std::int64_t forward = num_all_reduces(comm);
         out.sum().backward();  // an expanded gradient: one value in memory, seen many times
         return TensorMap{{"forward", counted(forward)}, {"backward", counted(num_all_reduces(comm) - forward)}};
       })) {
    CHECK(of_rank.at("forward").item<std::int64_t>() == 1);
    CHECK(of_rank.at("backward").item<std::int64_t>() == 1);
  }
}

TEST_CASE("nothing is sent on the way back to an x that wants no gradient") {
  for (const TensorMap& of_rank : run_on(3, [](Communicator& comm) {
         const at::Tensor x = seeded_randn({5, kWidth}, 7, at::kDouble);
         const Tensors shards = pair_shards(comm);
         parallel_mlp(x, shards, comm.collectives()).sum().backward();
         return TensorMap{{"all", counted(num_all_reduces(comm))}, {"grad", shards[0].grad()}};
       })) {
    CHECK(of_rank.at("all").item<std::int64_t>() == 1);
    CHECK(of_rank.at("grad").abs().max().item<double>() > 0);
  }
}

TEST_CASE("stacked pairs with residuals: the gradients of one process, and the same bits in whole tensors") {
  const auto two_pairs = [](const at::Tensor& x, const std::function<at::Tensor(const at::Tensor&)>& pair) {
    const at::Tensor first = x + pair(x);
    return first + pair(first);
  };
  const at::Tensor start = seeded_randn({5, kWidth}, 7, at::kDouble);
  const at::Tensor grad_out = seeded_randn({5, kWidth}, 8, at::kDouble);
  const at::Tensor x = start.clone().requires_grad_();
  Tensors whole = whole_pair();
  for (at::Tensor& tensor : whole) tensor.requires_grad_();
  two_pairs(x, [&](const at::Tensor& in) { return serial_blocks().mlp(in, whole); }).backward(grad_out);

  for (const int size : {2, 3, 4}) {
    const std::vector<TensorMap> results = run_on(size, [&](Communicator& comm) {
      const at::Tensor own_x = start.clone().requires_grad_();
      const Tensors shards = pair_shards(comm);
      const Blocks blocks = parallel_blocks(comm.collectives());
      const at::Tensor out = two_pairs(own_x, [&](const at::Tensor& in) { return blocks.mlp(in, shards); });
      out.backward(grad_out);
      return TensorMap{{"out", out.detach()}, {"x.grad", own_x.grad()}, {"bias.grad", shards[3].grad()}};
    });
    const Tolerance close{1e-12, 1e-12};
    for (const TensorMap& of_rank : results) {
      CHECK(compare(of_rank.at("x.grad"), x.grad(), close).close);
      CHECK(compare(of_rank.at("bias.grad"), whole[3].grad(), close).close);
      for (const auto& [name, tensor] : of_rank) CHECK(tensor.equal(results[0].at(name)));
    }
  }
}

TEST_CASE("attention refuses shards without whole heads") {
  const launch::WorldOutcome outcome = launch::run_ranks(threads(2), [](Communicator& comm) {
    const Tensors shards(8, at::zeros({6, 12}, at::kDouble));
    parallel_attention(at::zeros({1, 2, 12}, at::kDouble), shards, 4, comm.collectives());
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kContract));
  CHECK(outcome.failure->message.find("shard of q.weight has 6 rows, expected whole heads of 4; hint: the number of "
                                      "heads must divide by the number of ranks") != std::string::npos);
}

TEST_CASE("ranks that bring another number of rows are told so, and none of them hangs") {
  const launch::WorldOutcome outcome = launch::run_ranks(threads(2), [](Communicator& comm) {
    const at::Tensor x = at::ones({comm.rank() + 1, kHidden / 2}, at::kDouble);
    row_parallel_linear(x, at::ones({kWidth, kHidden / 2}, at::kDouble), at::ones({kWidth}, at::kDouble),
                        comm.collectives());
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->message.find("all_reduce") != std::string::npos);
}

}  // namespace
}  // namespace lab::optc
