#pragma once

#include <functional>
#include <string>

#include "a9_collectives/calls/calls.h"
#include "a9_collectives/transformer.h"
#include "a9_collectives/transformer_parallel_functions.h"

// The Transformer's tasks with one thing done differently, and what their cases make of it.
namespace lab::a9 {

using Block = BasicTransformerBlock;

std::string block_verdict(const std::string& case_name, const TaskCall& call, int num_ranks = 4);

bool passes(const std::string& case_name, const TaskCall& call, int num_ranks = 4);

/// A rank finds numbers that differ from the expected ones; none throws.
bool differs(const std::string& case_name, const TaskCall& call, int num_ranks = 4);

/// The numbers are right on every rank, but a rank has sent too much, too little or by the wrong means.
bool is_over_budget(const std::string& case_name, const TaskCall& call, int num_ranks = 4);

/// A result has another shape than expected.
bool has_wrong_shape(const std::string& case_name, const TaskCall& call, int num_ranks = 4);

/// Cuts the shards, and poisons the whole weights.
void cut(Block& block, Communicator& comm);

/// This rank's part of what is split evenly along `dim`: a view.
at::Tensor part(const at::Tensor& tensor, std::int64_t dim, Communicator& comm);

/// forward_tensor_parallel with the usual mistakes, each switched on separately.
struct TensorParallel {
  bool sum_after_attention = true;
  bool sum_after_ff = true;
  bool f_before_attention = true;
  bool f_before_ff = true;
  bool g_sums_both_ways = false;
  bool sum_breaks_graph = false;
  bool sum_behind_autograd = false;
  enum class Bias { kOnce, kOnEveryRank, kNever } bias = Bias::kOnce;
  bool whole_heads = false;
  bool residual_inside_sum = false;
  bool frozen_shard = false;
  bool residual_in_place = false;
  double scale = 1;  ///< of the attention scores, on top of 1/sqrt(K)
  /// Over the ranks; empty: reduce_parallel.
  std::function<at::Tensor(const at::Tensor& summand, Communicator&)> sum;

  at::Tensor forward(const Block& block, const at::Tensor& x, Communicator& comm) const;
};

/// forward_ulysses with another way to and from attention.
struct Ulysses {
  using Exchange = std::function<at::Tensor(const at::Tensor&, Communicator&)>;
  /// [B, S/P, H, K] to what attention sees, and its context back.
  Exchange there = [](const at::Tensor& x, Communicator& comm) { return all_to_all_parallel(x, 2, 1, comm); };
  Exchange keys_there;  ///< for k and v, if not as for q
  Exchange back = [](const at::Tensor& x, Communicator& comm) { return all_to_all_parallel(x, 1, 2, comm); };
  bool residual_in_place = false;
  double scale = 1;

  at::Tensor forward(const Block& block, const at::Tensor& x_shard, Communicator& comm) const;
};

// The calls of the tasks with a variant in the place of the student's functions; `finish` is what comes after backward().
TaskCall call_of(const TensorParallel& variant);
TaskCall gradient_call_of(const TensorParallel& variant);
TaskCall call_of(const Ulysses& variant);
TaskCall gradient_call_of(const Ulysses& variant, const std::function<void(const TensorMap&, Communicator&)>& finish);

}  // namespace lab::a9
