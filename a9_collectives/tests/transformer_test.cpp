#include "a9_collectives/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "a9_collectives/all_to_all.h"
#include "a9_collectives/cases/cases.h"
#include "a9_collectives/chunks.h"
#include "a9_collectives/transformer_parallel_functions.h"
#include "common/api/compare.h"
#include "common/api/errors.h"
#include "common/comm/messages/get_endpoint.h"
#include "common/tensor/seeded.h"
#include "common/testing/case_runs.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

namespace lab::a9 {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;  // of positions

Matrix rows(const at::Tensor& tensor) {
  Matrix matrix;
  for (std::int64_t i = 0; i < tensor.size(0); ++i) {
    const double* row = tensor[i].data_ptr<double>();
    matrix.emplace_back(row, row + tensor.size(1));
  }
  return matrix;
}

Vector numbers(const at::Tensor& tensor) {
  return Vector(tensor.data_ptr<double>(), tensor.data_ptr<double>() + tensor.numel());
}

double dot(const Vector& left, const Vector& right, std::size_t begin, std::size_t end) {
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += left[i] * right[i];
  return sum;
}

Matrix linear(const Matrix& x, const Matrix& weight) {
  Matrix out;
  for (const Vector& position : x) {
    Vector row;
    for (const Vector& unit : weight) row.push_back(dot(position, unit, 0, unit.size()));
    out.push_back(row);
  }
  return out;
}

Matrix normed(Matrix x, const Vector& weight, const Vector& bias) {
  for (Vector& position : x) {
    const auto size = static_cast<double>(position.size());
    double mean = 0;
    for (const double value : position) mean += value / size;
    double variance = 0;
    for (const double value : position) variance += (value - mean) * (value - mean) / size;
    for (std::size_t i = 0; i < position.size(); ++i)
      position[i] = (position[i] - mean) / std::sqrt(variance + 1e-5) * weight[i] + bias[i];
  }
  return x;
}

Matrix attended(const Matrix& q, const Matrix& k, const Matrix& v, std::size_t num_heads) {
  const std::size_t head_dim = q[0].size() / num_heads;
  Matrix out(q.size(), Vector(q[0].size(), 0.0));
  for (std::size_t head = 0; head < num_heads; ++head) {
    const std::size_t begin = head * head_dim;
    for (std::size_t i = 0; i < q.size(); ++i) {
      Vector weights;
      double total = 0;
      for (const Vector& key : k) {
        const double score = dot(q[i], key, begin, begin + head_dim) / std::sqrt(static_cast<double>(head_dim));
        weights.push_back(std::exp(score));
        total += weights.back();
      }
      for (std::size_t j = 0; j < k.size(); ++j) {
        for (std::size_t c = begin; c < begin + head_dim; ++c) out[i][c] += weights[j] / total * v[j][c];
      }
    }
  }
  return out;
}

void add(Matrix& x, const Matrix& y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t c = 0; c < x[i].size(); ++c) x[i][c] += y[i][c];
  }
}

/// The block on one sequence, written as loops over plain numbers: no tensor operation, no autograd.
/// Shapes    sequence and result [S, D], float64
at::Tensor block_by_loops(const TransformerOptions& options, const TensorMap& weights, const at::Tensor& sequence) {
  const auto matrix = [&](const char* name) { return rows(weights.at(name)); };
  const auto vector = [&](const char* name) { return numbers(weights.at(name)); };
  Matrix x = rows(sequence);
  Matrix inner = normed(x, vector("ln1_weight"), vector("ln1_bias"));
  inner = attended(linear(inner, matrix("q_proj")), linear(inner, matrix("k_proj")), linear(inner, matrix("v_proj")),
                   static_cast<std::size_t>(options.num_heads));
  add(x, linear(inner, matrix("o_proj")));
  Matrix hidden = linear(normed(x, vector("ln2_weight"), vector("ln2_bias")), matrix("fc1"));
  add(hidden, Matrix(hidden.size(), vector("fc1_bias")));
  for (Vector& position : hidden) {
    for (double& value : position) value = std::max(value, 0.0);
  }
  add(x, linear(hidden, matrix("fc2")));
  add(x, Matrix(x.size(), vector("fc2_bias")));
  at::Tensor out = at::empty_like(sequence);
  for (std::size_t s = 0; s < x.size(); ++s) out[static_cast<std::int64_t>(s)].copy_(at::tensor(x[s], at::kDouble));
  return out;
}

}  // namespace

}  // namespace lab::a9

// The serial block is right, the reference solution passes every case, and invalid arguments are refused.
namespace lab::a9 {
namespace {

std::vector<Case> all_cases() {
  std::vector<Case> cases = transformer_cases();
  for (const Case& further : transformer_gradient_cases()) cases.push_back(further);
  return cases;
}

/// Weights without the symmetry of fresh LayerNorms.
TensorMap lively_weights(const TransformerOptions& options, std::uint64_t seed) {
  TensorMap weights = initial_weights(options, seed, at::kDouble);
  for (const char* name : {"ln1_weight", "ln1_bias", "ln2_weight", "ln2_bias"})
    weights[name] += seeded_randn({options.d_model}, ++seed, at::kDouble);
  return weights;
}

TEST_CASE("the serial block is its formula, written in loops") {
  const TransformerOptions options = {12, 3, 20};
  const TensorMap weights = lively_weights(options, 7);
  const at::Tensor x = seeded_randn({2, 5, 12}, 8, at::kDouble);
  const at::Tensor out = BasicTransformerBlock(options, weights).forward(x).detach();
  for (std::int64_t b = 0; b < 2; ++b)
    CHECK(compare(out[b], block_by_loops(options, weights, x[b]), {1e-12, 1e-12}).close);
}

TEST_CASE("the serial block: positions permuted go in and come out alike, examples do not mix") {
  const TransformerOptions options;
  const BasicTransformerBlock block(options, lively_weights(options, 3));
  const at::Tensor x = seeded_randn({3, 6, 32}, 4, at::kDouble);
  const at::Tensor out = block.forward(x).detach();
  CHECK(compare(block.forward(x.flip({1})).detach(), out.flip({1}), {1e-12, 1e-12}).close);
  CHECK(compare(block.forward(x.narrow(0, 1, 1)).detach(), out.narrow(0, 1, 1), {1e-12, 1e-12}).close);
  CHECK_FALSE(compare(block.forward(x.narrow(1, 0, 3)).detach(), out.narrow(1, 0, 3), {1e-3, 1e-3}).close);
}

TEST_CASE("the serial block: with nothing projected out of it, a block is the identity") {
  const TransformerOptions options;
  TensorMap weights = lively_weights(options, 3);
  for (const char* name : {"o_proj", "fc2", "fc2_bias"}) weights[name].zero_();
  const at::Tensor x = seeded_randn({1, 4, 32}, 5, at::kDouble);
  CHECK(at::equal(BasicTransformerBlock(options, weights).forward(x).detach(), x));
}

TEST_CASE("a block keeps copies of its weights, all of them, of the right shape") {
  const TransformerOptions options;
  TensorMap weights = initial_weights(options, 1);
  const BasicTransformerBlock block(options, weights);
  weights["fc1"].zero_();
  CHECK_FALSE(at::equal(block.fc1.detach(), weights["fc1"]));
  CHECK(block.weights().size() == 12);
  for (const auto& [name, weight] : block.weights()) CHECK(weight.requires_grad());

  weights["fc1"] = weights["fc1"].t();
  CHECK_THROWS_WITH_AS(BasicTransformerBlock(options, weights), doctest::Contains("'fc1'"), ContractError);
  weights.erase("fc1");
  CHECK_THROWS_WITH_AS(BasicTransformerBlock(options, weights), doctest::Contains("'fc1'"), ContractError);
  CHECK_THROWS_AS(BasicTransformerBlock({32, 5, 64}, initial_weights(options, 1)), ContractError);
}

TEST_CASE("the reference passes on numbers of ranks that do not divide the handout's heads, which are skipped") {
  const std::vector<Case> cases = all_cases();
  REQUIRE(cases.size() == 9);
  for (const int size : {3, 5, 6, 7})
    CHECK(testing::problem_of_cases(cases, calls(), launch::WorldKind::kThreads, size, 20231, 2) == "");
}

TEST_CASE("a skipped case says which numbers do not fit") {
  const Case first = transformer_cases()[1];
  CHECK(first.skip_reason(3) == "4 heads do not divide by 3 ranks");
  CHECK(first.skip_reason(8) == "4 heads do not divide by 8 ranks");
  CHECK(first.skip_reason(4).empty());
}

/// Every rank must get a ContractError containing this text before it has sent anything.
void refused(int num_ranks, const std::string& text, const std::function<void(Communicator&)>& body) {
  const auto outcome =
      launch::run_ranks(threads(num_ranks), launch::RankBody([&](Communicator& comm, launch::RankOutcome& own) {
                          try {
                            body(comm);
                          } catch (const ContractError& failure) {
                            if (std::string(failure.what()).find(text) == std::string::npos) throw;
                            if (get_endpoint(comm).ledger().total().messages == 0)
                              own.tensors["refused"] = at::ones({});
                          }
                        }));
  CAPTURE(text);
  if (outcome.failure) FAIL_CHECK(outcome.failure->message);
  for (const launch::RankOutcome& rank : outcome.ranks) CHECK(rank.tensors.count("refused") == 1);
}

TEST_CASE("a size that does not divide, or a wrong shape, is refused on every rank before anything is sent") {
  const TransformerOptions options;
  const TensorMap weights = initial_weights(options, 1);
  const at::Tensor x = at::ones({2, 3, 32});
  const auto block = [&] { return BasicTransformerBlock(options, weights); };

  refused(3, "4 heads do not divide by 3 ranks",
          [&](Communicator& comm) { block().init_tensor_parallel_shards(comm); });
  refused(3, "4 heads do not divide by 3 ranks", [&](Communicator& comm) { block().forward_ulysses(x, comm); });
  refused(3, "4 heads do not divide by 3 ranks", [&](Communicator& comm) { block().forward_tensor_parallel(x, comm); });
  refused(4, "dimension 6", [&](Communicator& comm) {
    const TransformerOptions odd = {32, 4, 6};
    BasicTransformerBlock(odd, initial_weights(odd, 1)).init_tensor_parallel_shards(comm);
  });
  refused(2, "init_tensor_parallel_shards()", [&](Communicator& comm) { block().forward_tensor_parallel(x, comm); });
  refused(2, "SHAPE GUARD", [&](Communicator& comm) { block().forward_ulysses(at::ones({2, 3, 16}), comm); });
  refused(2, "SHAPE GUARD", [&](Communicator& comm) {
    BasicTransformerBlock one = block();
    one.init_tensor_parallel_shards(comm);
    one.forward_tensor_parallel(at::ones({3, 32}), comm);
  });
  refused(2, "no gradient arrived at a", [](Communicator& comm) { sum_gradients({{"a", at::ones({1})}}, comm); });
}

TEST_CASE("sequence shards of different lengths are a contract error, not a hang") {
  const TransformerOptions options;
  const TensorMap weights = initial_weights(options, 1);
  const auto outcome = launch::run_ranks(threads(2), launch::RankBody([&](Communicator& comm, launch::RankOutcome&) {
                                           const at::Tensor x_shard = at::ones({2, comm.rank() == 0 ? 4 : 3, 32});
                                           BasicTransformerBlock(options, weights).forward_ulysses(x_shard, comm);
                                         }));
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kContract));
}

TEST_CASE("cost: Ulysses makes four all-to-alls each way, and sends nothing else") {
  const TransformerOptions options = {32, 8, 64};
  const TensorMap weights = initial_weights(options, 1);
  for (const int size : {2, 4, 8}) {
    const auto outcome = launch::run_ranks(
        threads(size), launch::RankBody([&](Communicator& comm, launch::RankOutcome& own) {
          const auto count = [&](const char* name) {
            const LedgerEntry total = get_endpoint(comm).ledger().total();
            own.tensors[name] =
                at::tensor({static_cast<std::int64_t>(total.messages), static_cast<std::int64_t>(total.bytes_sent)});
          };
          const BasicTransformerBlock block(options, weights);
          const at::Tensor x = at::ones({2, 3, 32});
          my_all_to_all(x, 2, 1, comm.point_to_point());
          count("one");
          const at::Tensor out = block.forward_ulysses(x, comm);
          count("one and forward");
          out.sum().backward();
          count("all");
        }));
    CAPTURE(size);
    REQUIRE_FALSE(outcome.failure);
    // Bruck's way, on a power of two: half of the parts in each of lg P messages.
    constexpr std::int64_t kBytes = 2 * 3 * 32 * 4;
    const bool bruck = choose_all_to_all(kBytes, size) == "bruck";
    const std::int64_t messages = bruck ? ceil_lg(size) : size - 1;
    const std::int64_t bytes = messages * kBytes / (bruck ? 2 : size);
    for (const launch::RankOutcome& rank : outcome.ranks) {
      CHECK(at::equal(rank.tensors.at("one"), at::tensor({messages, bytes})));
      CHECK(at::equal(rank.tensors.at("one and forward"), 5 * rank.tensors.at("one")));
      CHECK(at::equal(rank.tensors.at("all"), 9 * rank.tensors.at("one")));
    }
  }
}

}  // namespace
}  // namespace lab::a9
