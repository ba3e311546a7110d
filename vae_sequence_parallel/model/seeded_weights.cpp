#include "vae_sequence_parallel/model/seeded_weights.h"

#include "common/base/checksum.h"
#include "common/tensor/mixing.h"
#include "common/tensor/seeded.h"

namespace lab::vae {
namespace {

std::string find_place(const std::string& name) {
  return name.substr(0, name.rfind('.'));
}

}  // namespace

at::Tensor SeededWeights::get(const std::string& name, at::IntArrayRef shape) {
  // Seeded by name, so that a parameter's values do not depend on the order in which parameters are made.
  const at::Generator generator = make_generator(derived_seed(seed_, splitmix64(seed_ ^ compute_checksum(name))));
  at::Tensor tensor = at::zeros(shape, dtype_);
  const auto convolution = fan_in_.find(find_place(name));
  const bool is_bias = name.size() > 5 && name.compare(name.size() - 5, 5, ".bias") == 0;
  if (shape.size() == 4) {
    const std::int64_t fan_in = tensor.numel() / tensor.size(0);
    init_linear_uniform(tensor, fan_in, generator);
    fan_in_[find_place(name)] = fan_in;
  } else if (is_bias && convolution != fan_in_.end()) {
    init_linear_uniform(tensor, convolution->second, generator);
  } else {
    tensor.fill_(is_bias ? 0 : 1);
    if (spread_ != 0) tensor += spread_ * at::randn(shape, generator, tensor.options());
  }
  if (keeps_) made_[name] = tensor;
  return tensor;
}

}  // namespace lab::vae
