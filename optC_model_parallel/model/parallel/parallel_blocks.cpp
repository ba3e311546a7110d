#include "common/api/collectives.h"
#include "optC_model_parallel/parallel_layers.h"

namespace lab::optc {

Blocks parallel_blocks(Collectives& comm) {
  Blocks blocks;
  blocks.mlp = [&comm](const at::Tensor& x, const Tensors& shards) { return parallel_mlp(x, shards, comm); };
  blocks.norm_mlp = [&comm](const at::Tensor& x, const Tensors& shards) { return parallel_norm_mlp(x, shards, comm); };
  blocks.attention = [&comm](const at::Tensor& x, const Tensors& shards, std::int64_t head_dim) {
    return parallel_attention(x, shards, head_dim, comm);
  };
  blocks.residual = [&comm](const at::Tensor& x, const Tensors& shards, Mode mode) {
    return parallel_residual(x, shards, mode, comm);
  };
  return blocks;
}

}  // namespace lab::optc
