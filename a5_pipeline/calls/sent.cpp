#include <fmt/format.h>

#include "a5_pipeline/model.h"
#include "a5_pipeline/model/draws.h"
#include "common/rank/sent_tensors.h"

// In the program of a judged rank, what model/draws.cpp draws elsewhere.
namespace lab::a5 {

Layer make_layer(const PipelineArguments& arguments, std::int64_t index) {
  const auto sent = [&](const char* weight, std::int64_t out, std::int64_t in) {
    return sent_tensor(fmt::format("weight.layer{}.{}", index, weight), {out, in}, arguments.seed)
        .to(arguments.device, arguments.dtype)
        .requires_grad_();
  };
  Layer layer;
  layer.index = index;
  layer.fc1 = sent("fc1", arguments.intermediate_size, arguments.hidden_size);
  layer.fc2 = sent("fc2", arguments.hidden_size, arguments.intermediate_size);
  return layer;
}

at::Tensor draw_micro_batch(const PipelineArguments& arguments, std::int64_t i) {
  return sent_tensor(fmt::format("input.micro_batch{}", i), arguments.activation_shape(), arguments.seed)
      .to(arguments.dtype);
}

}  // namespace lab::a5
