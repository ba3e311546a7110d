#include "vae_sequence_parallel/calls/autoencoder_call.h"

#include <c10/core/GradMode.h>

#include "common/tensor/memory_meter.h"
#include "common/tensor/work_meter.h"
#include "vae_sequence_parallel/calls/case_inputs.h"
#include "vae_sequence_parallel/calls/leaf_weights.h"
#include "vae_sequence_parallel/model/checkpoint.h"

namespace lab::vae {
namespace {

ParallelAutoEncoder make_model(const CaseInputs& inputs, Communicator& comm) {
  CheckpointWeights source(weights_of(inputs), "the serial module's parameters",
                           inputs.tensor("input.latent").scalar_type());
  LeafWeights on_device(source, inputs.device);
  ParallelAutoEncoder model(Weights(on_device), config_of(inputs), comm);
  source.finish();
  return model;
}

}  // namespace

TaskCall autoencoder_call(const DecodeFunction& decode) {
  return [decode](Communicator& comm, const CaseInputs& inputs) {
    const c10::NoGradGuard no_grad;
    const auto uncounted = [](const auto& given) {
      const UnchargedScope held;
      const UncountedWork done;
      return given();
    };
    const auto picture = [&](const char* name) { return inputs.tensor(name).clone(at::MemoryFormat::ChannelsLast); };
    const ParallelAutoEncoder model = uncounted([&] { return make_model(inputs, comm); });
    const at::Tensor latent = uncounted([&] { return model.encode(picture("input.picture")); });
    const at::Tensor z = picture("input.latent");
    return TensorMap{{"latent", latent}, {"picture", decode(model, z, comm)}, {"z", z}};
  };
}

}  // namespace lab::vae
