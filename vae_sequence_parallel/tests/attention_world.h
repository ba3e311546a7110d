#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/api/communicator.h"
#include "common/api/tensor_map.h"

// Attention over positions that are split among ranks, compared with attention in one process.
namespace lab::vae {

/// Of all positions: [B, heads, N, d].
struct AttentionData {
  at::Tensor q, k, v, grad_out;
  bool exact_scores = false;  ///< products of q and k are exact in float32, in any order of summation
};

/// Standard normal values.
AttentionData random_data(at::IntArrayRef shape, at::ScalarType dtype);

/// Normal values, rounded to multiples of 1/8 up to 2; in addition, the scores of key n are levels[n] higher. All
/// scores up to 2^14 are exact in float32, in any order of summation.
/// Requires  d is 4 or 16; levels are integers
AttentionData data_with_levels(at::IntArrayRef shape, at::ScalarType dtype, const std::vector<std::int64_t>& levels);

/// ulysses_attention() or ring_attention().
using AttentionCall = std::function<at::Tensor(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                               const std::vector<std::int64_t>& lengths, Communicator& comm)>;

/// "out" and the gradients "q", "k" and "v" of all positions, from attention() in float64.
TensorMap serial_results(const AttentionData& data);
/// The same from a world of threads, each with its own positions, laid out in memory as by to_heads().
/// Errors    std::runtime_error: a rank failed, with its message
TensorMap parallel_results(const AttentionData& data, const std::vector<std::int64_t>& lengths,
                           const AttentionCall& call);
/// Without gradients, "out" alone.
TensorMap parallel_output(const AttentionData& data, const std::vector<std::int64_t>& lengths,
                          const AttentionCall& call);

/// The largest relative norm of the differences among `actual`; infinity if there is a NaN.
double worst_error(const TensorMap& actual, const TensorMap& expected);

/// The largest norm of the differences among `actual`, as a fraction of the bound on rounding errors: 1 or less is the
/// same attention in another order of summation, on any CPU and with any kernel. Infinity if there is a NaN.
/// Source    Higham, Accuracy and Stability of Numerical Algorithms, 3.1: a sum of n products is off by at most n units
///           of roundoff times the sum of their magnitudes; carried through softmax and its gradient term by term
double worst_rounding(const TensorMap& actual, const TensorMap& expected, const AttentionData& data);

/// Edge cases of lengths for P ranks: even; one position more on the first; none and one among others; all on one rank.
std::vector<std::vector<std::int64_t>> length_patterns(int size);

std::int64_t total(const std::vector<std::int64_t>& lengths);

// Properties of both ulysses_attention() and ring_attention(), as doctest assertions.

/// Output and gradients equal those of one process, up to rounding.
void check_same(const AttentionCall& call, const AttentionData& data, const std::vector<std::int64_t>& lengths);

/// The same if exp() of a score is infinite or 0, and if the maximum grows from block to block.
void check_large_scores(const AttentionCall& call, std::int64_t heads, const std::vector<std::int64_t>& lengths);

/// Groups of ranks 3 1 and 2 0 4 do not affect each other when they run at the same time. Calls with 6 heads.
void check_groups(const AttentionCall& call);

/// Between processes as between threads. Calls with 3 heads on 3 ranks.
void check_processes(const AttentionCall& call);

/// Mismatched shapes, dtypes and lengths are rejected on every rank before anything is sent.
void check_refusals(const AttentionCall& call);

/// Every rank must throw a ContractError that contains this text, before it has sent anything.
void check_refused(int size, const std::string& text, const std::function<void(Communicator&)>& body);

/// Ranks that disagree on the lengths end with a contract error and do not hang.
void check_disagreement(const AttentionCall& call);

}  // namespace lab::vae
