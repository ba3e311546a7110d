#pragma once

#include "common/api/communicator.h"
#include "vae_sequence_parallel/layers.h"
#include "vae_sequence_parallel/model/width_shard.h"

// The modules of the decoder on a picture that is split along its width: every rank has the same parameters, with the
// serial modules' names, and some of the columns. Any width of at least one column per rank; a subgroup of ranks works
// like the whole world. Every rank of `comm` makes the same calls in the same order; the communicator must outlive the
// module and every backward pass. All are differentiable: a parameter's gradient is this rank's part; the sum over
// ranks is the whole. Without gradients a layer releases its input early: pass it with std::move.
// Errors of all: ContractError if the shard does not fit the module or the ranks.
namespace lab::vae {

/// A convolution of the whole picture: a rank receives from its neighbours the columns next to its own that its output
/// needs (the halo); zeros only at the picture's edges.
/// Call      collective, blocking, by messages
/// Shapes    in [B, C, H, W_local]; out [B, C', H', W'_local]; an output column belongs to the rank that has its centre
/// Cost      one message to each rank that needs columns from here; with stride 1 an inner rank sends
///           2 * floor(kernel / 2) * B * C * H values, a rank at the edge half of that. Backward: the same in the
///           opposite direction
struct ParallelConv2d : Conv2d {
  ParallelConv2d(const Weights& weights, const Conv2dOptions& conv_options, Communicator& comm);
  WidthShard forward(WidthShard x) const;

 private:
  PointToPoint* p2p_;
};

/// The norm over the columns of all ranks. Mean and variance are bitwise the same on every rank.
/// Call      collective, blocking
/// Order     moments (n, mean, M2) of each rank in double, merged in rank order
/// Cost      one all-gather of 3 doubles per group and picture of the batch; backward: one of 2
/// Source    Chan, Golub, LeVeque: Updating formulae and a pairwise algorithm for computing sample variances (1979)
struct ParallelGroupNorm : GroupNorm {
  ParallelGroupNorm(const Weights& weights, std::int64_t num_channels, Communicator& comm,
                    std::int64_t groups = kNumGroups);
  WidthShard forward(const WidthShard& x) const;

 private:
  Collectives* collectives_;
};

/// x plus attention among the positions of all ranks: ulysses_attention() if the number of heads is a multiple of the
/// number of ranks, else ring_attention().
struct ParallelAttnBlock : AttnLayers<ParallelGroupNorm, ParallelConv2d> {
  ParallelAttnBlock(const Weights& weights, std::int64_t num_channels, std::int64_t heads, Communicator& comm);
  WidthShard forward(WidthShard x) const;

 private:
  Communicator* comm_;
};

/// x plus two convolutions, each after a norm and swish.
struct ParallelResnetBlock : ResnetLayers<ParallelGroupNorm, ParallelConv2d> {
  using ResnetLayers::ResnetLayers;
  WidthShard forward(WidthShard x) const;
};

/// Twice as high and wide: every pixel four times, then a 3x3 convolution. Every rank keeps its columns.
struct ParallelUpsample {
  ParallelUpsample(const Weights& weights, std::int64_t num_channels, Communicator& comm);
  WidthShard forward(WidthShard x) const;

  ParallelConv2d conv;
};

}  // namespace lab::vae
