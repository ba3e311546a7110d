#include "vae_sequence_parallel/parallel_layers.h"

#include "vae_sequence_parallel/parallel_autoencoder.h"

// The constructors of the parallel modules; their forward passes are the student's part.
namespace lab::vae {

ParallelConv2d::ParallelConv2d(const Weights& weights, const Conv2dOptions& conv_options, Communicator& comm)
    : Conv2d(weights, conv_options), p2p_(&comm.point_to_point()) {}

ParallelGroupNorm::ParallelGroupNorm(const Weights& weights, std::int64_t num_channels, Communicator& comm,
                                     std::int64_t groups)
    : GroupNorm(weights, num_channels, groups), collectives_(&comm.collectives()) {}

ParallelAttnBlock::ParallelAttnBlock(const Weights& weights, std::int64_t num_channels, std::int64_t heads,
                                     Communicator& comm)
    : AttnLayers(weights, num_channels, heads, comm), comm_(&comm) {}

ParallelUpsample::ParallelUpsample(const Weights& weights, std::int64_t num_channels, Communicator& comm)
    : conv(weights / "conv", {num_channels, num_channels}, comm) {}

ParallelDecoder::ParallelDecoder(const Weights& weights, const AutoEncoderConfig& config, Communicator& comm)
    : DecoderLayers(weights, config, comm) {}

ParallelAutoEncoder::ParallelAutoEncoder(const Weights& weights, const AutoEncoderConfig& sizes,
                                         Communicator& communicator)
    : config(sizes),
      encoder(weights / "encoder", sizes),
      decoder(weights / "decoder", sizes, communicator),
      comm_(&communicator) {}

at::Tensor ParallelAutoEncoder::encode(const at::Tensor& x) const {
  return vae::encode(encoder, x, config);
}

}  // namespace lab::vae
