#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "common/api/collectives.h"
#include "common/api/point_to_point.h"

// Attention with positions split over ranks: each rank computes the rows of softmax(Q K^T / sqrt(d)) V for its own
// queries, over the keys and values of all ranks. Differentiable once; no double backward.
// Shapes    q, k, v and out [B, heads, N_r, d] on rank r; lengths: N_r of each rank, which may differ or be 0
// Aliasing  out is new
// Errors    ContractError, before anything is sent: q, k, v with different shapes or dtypes or not of this rank's
//           length, or not one length per rank; those of the communicator
namespace lab::vae {

/// By all-to-all: exchanges positions for heads, so that each rank has all positions of some heads, and back.
/// Call      collective, blocking, autograd yes
/// Order     as attention() with these heads in one process
/// Cost      two all-to-alls. To each peer s, first q, k and v of its heads, 3 * B * heads/P * N_r * d values, then the
///           result for its positions, B * heads/P * N_s * d. Backward: the same with N_r and N_s exchanged. With even
///           lengths, 4 * (P-1)/P^2 * B * heads * N * d values each way. The scores are
///           B * heads/P * N * N values, all at once
/// Errors    ContractError, before anything is sent: the number of heads is not a multiple of the number of ranks
/// Source    DeepSpeed-Ulysses, arXiv:2309.14509
at::Tensor ulysses_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const std::vector<std::int64_t>& lengths, Collectives& collectives);

/// By a ring: blocks of keys and values go around, and each rank accumulates its queries' attention over each block,
/// rescaling the softmax as larger scores appear. Exact, for any number of heads; a rank never holds more scores than
/// its own positions times one other rank's.
/// Call      collective, blocking, autograd yes
/// Order     each rank begins with its own block and continues with those of the ranks before it: the same lengths
///           give the same bits, but not those of one process
/// Cost      P-1 messages, each with the k and v of one rank, all but the next one's: 2 * B * heads * (N - N_(r+1)) * d
///           values. Backward: the same again, and P messages with the gradients of k and v of every rank, which return
///           home in the last one: 2 * B * heads * N * d more. Nothing for P = 1. All but that last one travel while a block
///           is at work, so that hardly any time passes waiting
/// Source    Ring attention, arXiv:2310.01889; the softmax: Milakov and Gimelshein, arXiv:1805.02867
at::Tensor ring_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const std::vector<std::int64_t>& lengths, PointToPoint& p2p);

/// Errors    ContractError that names `where`: see above
void check_sequence_shard(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const std::vector<std::int64_t>& lengths, int rank, int size, const char* where);

}  // namespace lab::vae
