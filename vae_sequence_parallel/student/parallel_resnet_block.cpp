#include "vae_sequence_parallel/parallel_layers.h"

namespace lab::vae {

WidthShard ParallelResnetBlock::forward(WidthShard x) const {
  // BEGIN SOLUTION vae.resnet_block
  // STUB // TODO(vae.resnet_block): as ResnetBlock::forward(). Hand each layer its input with std::move: a picture that
  // STUB // nobody needs any more must be gone before the next one is made.
  // STUB not_implemented("vae.resnet_block", x);
  WidthShard h = norm1.forward(x);
  h.columns = swish(std::move(h.columns));
  h = conv1.forward(std::move(h));
  h = norm2.forward(h);
  h.columns = swish(std::move(h.columns));
  h = conv2.forward(std::move(h));
  if (nin_shortcut) x = nin_shortcut->forward(std::move(x));
  h.columns = residual_sum(std::move(h.columns), x.columns);
  return h;
  // END SOLUTION vae.resnet_block
}

}  // namespace lab::vae
