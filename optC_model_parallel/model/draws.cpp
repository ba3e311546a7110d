#include "optC_model_parallel/model/draws.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "common/api/errors.h"
#include "common/tensor/seeded.h"
#include "optC_model_parallel/model/images.h"

// What follows from the seed of a training. In the program of a judged rank, calls/sent.cpp is in its place.
namespace lab::optc {
namespace {

/// A different seed for every name.
std::uint64_t derive_seed(const std::string& name, std::uint64_t seed) {
  for (const char letter : name) seed = splitmix64(seed ^ static_cast<unsigned char>(letter));
  return splitmix64(seed);
}

}  // namespace

at::Tensor draw_parameter(const ParameterSpec& spec, std::uint64_t seed) {
  at::Tensor tensor = at::zeros(spec.shape, at::kDouble);
  if (spec.fill == Fill::kOnes) tensor.fill_(1);
  if (spec.fill == Fill::kUniform || spec.fill == Fill::kHe) {
    init_linear_uniform(tensor, spec.fan_in, make_generator(derived_seed(seed, derive_seed(spec.name, seed))));
    if (spec.fill == Fill::kHe) tensor.mul_(std::sqrt(6.0));
  }
  return tensor;
}

std::vector<std::int64_t> epoch_order(std::int64_t num_images, std::uint64_t seed, std::int64_t epoch) {
  if (num_images < 0) throw ContractError(fmt::format("An epoch has 0 images or more, got {}.", num_images));
  std::vector<std::int64_t> order(static_cast<std::size_t>(num_images));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  PortableRandom random(splitmix64(seed) + static_cast<std::uint64_t>(epoch));
  // Fisher-Yates: positions after `last` are done; any of the others may still be drawn for `last`.
  for (std::int64_t last = num_images - 1; last > 0; --last) {
    const std::int64_t drawn = random.between(0, last);
    std::swap(order[static_cast<std::size_t>(drawn)], order[static_cast<std::size_t>(last)]);
  }
  return order;
}

}  // namespace lab::optc
