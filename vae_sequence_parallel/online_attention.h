#pragma once

#include <ATen/ATen.h>

// Attention whose keys and values arrive one block at a time, in any order: what ring_attention() does with each block.
// No communication, no autograd. All sums are in float64, so that their order, which differs between ranks, does not
// show in a result that is rounded to float32; keys, values and their gradients are sent in the tensors' own dtype.
// Legend    R = B * heads; N queries here; M keys in the block, which may differ from block to block; d channels
// Memory    a block's scores [R, N, M], once in the forward and twice in the backward pass, are all that grows with N*M
namespace lab::vae {

/// softmax(q k^T / sqrt(d)) v over the blocks so far.
/// Invariant with x the scores so far: max = max(x), sum = sum of exp(x - max), out = exp(x - max) v
struct OnlineAttention {
  at::Tensor q;         ///< [R, N, d] float64, divided by sqrt(d)
  at::Tensor max, sum;  ///< [R, N, 1] float64; before the first block -infinity and 0
  at::Tensor out;       ///< [R, N, d] float64

  /// Before the first block.
  static OnlineAttention begin(const at::Tensor& queries);
  /// One more block, k and v [R, M, d]. An empty one changes nothing.
  void add(const at::Tensor& k, const at::Tensor& v);
  /// After the last block: out is divided by sum.
  void finish();
};

/// Results for the scores of one block.
struct ScoreGradient {
  at::Tensor weights;      ///< P = softmax(q k^T / sqrt(d)), [R, N, M]: this block's columns
  at::Tensor grad_scores;  ///< dS = P * (dP - D), [R, N, M], where dP = grad_out v^T
};

/// The gradients, from the same blocks again and the forward pass's state. Max and sum are kept apart: merged into one
/// number, max + log(sum), they would give exp(x - max) / sum a rounding error proportional to max.
struct OnlineGradient {
  OnlineAttention finished;
  at::Tensor grad_out;  ///< [R, N, d]
  at::Tensor grad_dot;  ///< D: row-wise dot product of grad_out and out, [R, N, 1]
  at::Tensor grad_q;    ///< [R, N, d], with respect to q / sqrt(d) until finish()

  /// Before the first block.
  static OnlineGradient begin(const OnlineAttention& finished, const at::Tensor& grad_out);
  /// Adds a block's contribution to grad_q; k, v [R, M, d].
  ScoreGradient add(const at::Tensor& k, const at::Tensor& v);
  /// Adds these queries' contribution to the gradients of a block's k and v.
  void add_to(const at::Tensor& grad_k, const at::Tensor& grad_v, const ScoreGradient& found) const;
  /// After the last block: grad_q is then with respect to the queries as passed in.
  void finish();
};

}  // namespace lab::vae
