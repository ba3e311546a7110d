#include "vae_sequence_parallel/seeded_weights.h"

#include "common/tensor/mixing.h"
#include "common/tensor/seeded.h"

namespace lab::vae {
namespace {

/// FNV-1a, so that a parameter's numbers do not depend on the order in which parameters are made.
std::uint64_t hash_of(const std::string& name) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char character : name) hash = (hash ^ static_cast<unsigned char>(character)) * 1099511628211U;
  return hash;
}

}  // namespace

at::Tensor SeededWeights::get(const std::string& name, at::IntArrayRef shape) {
  const at::Generator generator = make_generator(splitmix64(seed_ ^ hash_of(name)));
  at::Tensor tensor = at::zeros(shape, dtype_);
  const std::size_t begin_of_last = name.rfind('.') + 1;  // 0 where there is no dot
  const auto convolution = made_.find(name.substr(0, begin_of_last) + "weight");
  const bool is_bias = name.substr(begin_of_last) == "bias";
  if (shape.size() == 4) {
    init_linear_uniform(tensor, tensor.numel() / tensor.size(0), generator);
  } else if (is_bias && convolution != made_.end() && convolution->second.dim() == 4) {
    init_linear_uniform(tensor, convolution->second[0].numel(), generator);
  } else {
    tensor.fill_(is_bias ? 0 : 1);
    if (spread_ != 0) tensor += spread_ * at::randn(shape, generator, tensor.options());
  }
  made_[name] = tensor;
  return tensor;
}

}  // namespace lab::vae
