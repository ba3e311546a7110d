#pragma once

#include "vae_sequence_parallel/model/autoencoder.h"
#include "vae_sequence_parallel/parallel_layers.h"

namespace lab::vae {

struct ParallelLayers {
  using Conv2d = ParallelConv2d;
  using GroupNorm = ParallelGroupNorm;
  using AttnBlock = ParallelAttnBlock;
  using ResnetBlock = ParallelResnetBlock;
  using Upsample = ParallelUpsample;
};

/// The Decoder on latents that are split along their width, built from parallel layers.
/// Shapes    in [B, z, h, w_local]; out [B, 3, f*h, f*w_local], widths times f
struct ParallelDecoder : DecoderLayers<ParallelLayers> {
  ParallelDecoder(const Weights& weights, const AutoEncoderConfig& config, Communicator& comm);
  WidthShard forward(WidthShard z) const;
};

/// An AutoEncoder with a parallel decoder. Every rank has the whole latent and gets the whole picture; in between, each
/// rank holds only its own columns.
/// Errors    as AutoEncoder; and ContractError: a latent narrower than the number of ranks
struct ParallelAutoEncoder {
  ParallelAutoEncoder(const Weights& weights, const AutoEncoderConfig& sizes, Communicator& communicator);

  /// As AutoEncoder::encode. Local.
  at::Tensor encode(const at::Tensor& x) const;
  /// As AutoEncoder::decode. Collective, no autograd.
  at::Tensor decode(const at::Tensor& z) const;

  AutoEncoderConfig config;
  Encoder encoder;
  ParallelDecoder decoder;

 private:
  Communicator* comm_;
};

}  // namespace lab::vae
