#include "a9_collectives/all_to_all.h"
#include "a9_collectives/allreduce.h"
#include "a9_collectives/tests/wrong/transformer.h"
#include "common/testing/message_of.h"
#include "common/testing/test.h"

// Each mistake with gradients through communication that the README warns of, as a wrong solution, and the case that
// catches it.
namespace lab::a9 {
namespace {

TEST_CASE("right: gradients through the variants without a mistake") {
  CHECK(passes("TensorParallelGrad", gradient_call_of(TensorParallel())));
  CHECK(passes("UlyssesGrad", gradient_call_of(Ulysses(), sum_gradients)));
}

TEST_CASE("wrong: f is missing; outputs are right, gradients before it are one rank's part") {
  for (const bool before_attention : {true, false}) {
    TensorParallel wrong;
    (before_attention ? wrong.f_before_attention : wrong.f_before_ff) = false;
    CHECK(passes("TensorParallel", call_of(wrong)));
    CHECK(differs("TensorParallelGrad", gradient_call_of(wrong)));
  }
}

TEST_CASE("wrong: g sums in its backward pass as well; gradients are P times too large") {
  TensorParallel wrong;
  wrong.g_sums_both_ways = true;
  CHECK(passes("TensorParallel", call_of(wrong)));
  CHECK(differs("TensorParallelGrad", gradient_call_of(wrong)));
}

TEST_CASE("wrong: the all-reduce breaks the graph; no gradient gets through it") {
  TensorParallel wrong;
  wrong.sum_breaks_graph = true;
  CHECK(passes("TensorParallel", call_of(wrong)));
  CHECK(differs("TensorParallelGrad", gradient_call_of(wrong)));
}

TEST_CASE("right, if by accident: my_allreduce on a fresh tensor is g, since autograd does not see it") {
  TensorParallel plain;
  plain.sum_behind_autograd = true;
  CHECK(passes("TensorParallel", call_of(plain)));
  CHECK(passes("TensorParallelGrad", gradient_call_of(plain)));
}

TEST_CASE("wrong: a shard requires no gradient") {
  TensorParallel wrong;
  wrong.frozen_shard = true;
  CHECK(differs("TensorParallelGrad", gradient_call_of(wrong)));
}

TEST_CASE("wrong: weight gradients are averaged over the sequence shards, or left as parts") {
  for (const bool average : {true, false}) {
    CHECK(differs("UlyssesGrad", gradient_call_of(Ulysses(), [&](const TensorMap& weights, Communicator& comm) {
                    if (!average) return;
                    sum_gradients(weights, comm);
                    for (const auto& [name, weight] : weights) weight.grad().div_(comm.size());
                  })));
  }
}

TEST_CASE("wrong: the all-to-all breaks the graph, so q, k and v get no gradient") {
  Ulysses wrong;
  wrong.there = [](const at::Tensor& x, Communicator& comm) {
    return my_all_to_all(x.detach(), 2, 1, comm.point_to_point());
  };
  wrong.back = [](const at::Tensor& x, Communicator& comm) {
    return my_all_to_all(x.detach(), 1, 2, comm.point_to_point());
  };
  CHECK(passes("Ulysses", call_of(wrong)));
  CHECK(differs("UlyssesGrad", gradient_call_of(wrong, [](const TensorMap&, Communicator&) {})));
}

/// The results of ParallelFunctions, right except for what `change` does.
TaskCall functions(const std::function<void(TensorMap&, Communicator&, const CaseInputs&)>& change) {
  return [change](Communicator& comm, const CaseInputs& inputs) {
    TensorMap results = calls().at("a9.parallel_functions")(comm, inputs);
    change(results, comm, inputs);
    return results;
  };
}

TEST_CASE("right: the functions as they are") {
  CHECK(passes("ParallelFunctions", functions([](TensorMap&, Communicator&, const CaseInputs&) {})));
}

TEST_CASE("wrong: f changes the incoming gradient, or averages") {
  CHECK(differs("ParallelFunctions", functions([](TensorMap& results, Communicator&, const CaseInputs&) {
                  results["f.grad_out"] = results["f.x.grad"];
                })));
  CHECK(differs("ParallelFunctions", functions([](TensorMap& results, Communicator& comm, const CaseInputs&) {
                  results["f.x.grad"] = results["f.x.grad"] / comm.size();
                })));
}

TEST_CASE("wrong: g changes its input, or sums gradients") {
  CHECK(differs("ParallelFunctions", functions([](TensorMap& results, Communicator&, const CaseInputs&) {
                  results["g.x"] = results["g.out"];
                })));
  CHECK(differs("ParallelFunctions", functions([](TensorMap& results, Communicator& comm, const CaseInputs&) {
                  results["g.x.grad"] = my_allreduce(results["g.x.grad"].clone(), comm.point_to_point());
                })));
}

TEST_CASE("wrong: the all-to-all's backward pass leaves the dimensions as they were, or takes the wrong rank's part") {
  CHECK(testing::contains(block_verdict("ParallelFunctions",
                                        functions([](TensorMap& results, Communicator& comm, const CaseInputs& inputs) {
                                          results["all_to_all.x.grad"] = my_all_to_all(
                                              inputs.tensor("input.all_to_all.grad_out"), 2, 1, comm.point_to_point());
                                        })),
                          "expected dimension 2 of "));
  CHECK(differs("ParallelFunctions", functions([](TensorMap& results, Communicator&, const CaseInputs&) {
                  results["all_to_all.x.grad"] = results["all_to_all.x.grad"].roll({2}, {2});
                })));
}

}  // namespace
}  // namespace lab::a9
