#include <fmt/format.h>

#include "common/rank/sent_tensors.h"
#include "optC_model_parallel/model/draws.h"
#include "optC_model_parallel/model/images.h"

// In the program of a judged rank, what model/draws.cpp draws elsewhere.
namespace lab::optc {

at::Tensor draw_parameter(const ParameterSpec& spec, std::uint64_t seed) {
  return sent_tensor("weight." + spec.name, spec.shape, seed).to(at::kDouble);
}

std::vector<std::int64_t> epoch_order(std::int64_t num_images, std::uint64_t seed, std::int64_t epoch) {
  const at::Tensor order = sent_tensor(fmt::format("input.order{}", epoch), {num_images}, seed);
  return {order.data_ptr<std::int64_t>(), order.data_ptr<std::int64_t>() + num_images};
}

}  // namespace lab::optc
