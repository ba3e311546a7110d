#include "a5_pipeline/model/draws.h"

#include <cmath>

#include "a5_pipeline/model.h"
#include "common/tensor/seeded.h"

// What follows from the seed. In the program of a judged rank, calls/sent.cpp is in its place.
namespace lab::a5 {
namespace {

/// [out, in], normal with variance gain / in. Drawn in float32 whatever the dtype.
at::Tensor weight(std::int64_t out, std::int64_t in, double gain, at::Generator& generator,
                  const PipelineArguments& arguments) {
  at::Tensor drawn = at::empty({out, in}, at::kFloat);
  drawn.normal_(0, std::sqrt(gain / static_cast<double>(in)), generator);
  return drawn.to(arguments.device, arguments.dtype).requires_grad_();
}

}  // namespace

Layer make_layer(const PipelineArguments& arguments, std::int64_t index) {
  at::Generator generator = make_generator(derived_seed(arguments.seed, rank_seed(arguments.seed, index)));
  Layer layer;
  layer.index = index;
  const double gain = arguments.activation == Activation::kRelu ? 2 : 1.5;
  layer.fc1 = weight(arguments.intermediate_size, arguments.hidden_size, gain, generator, arguments);
  layer.fc2 = weight(arguments.hidden_size, arguments.intermediate_size, 1, generator, arguments);
  return layer;
}

at::Tensor draw_micro_batch(const PipelineArguments& arguments, std::int64_t i) {
  // Layers draw from the seed itself; micro-batches from another.
  const std::uint64_t seed = derived_seed(arguments.seed, rank_seed(~arguments.seed, i));
  return seeded_rand(arguments.activation_shape(), seed, at::kFloat).to(arguments.dtype);
}

}  // namespace lab::a5
