#include "common/rank/sent_tensors.h"

#include <fmt/format.h>

#include "common/api/errors.h"
#include "common/api/shapes.h"

namespace lab {
namespace {

thread_local const CaseInputs* inputs_of_case = nullptr;

[[noreturn]] void refuse(const std::string& name, at::IntArrayRef sizes, const std::string& sent) {
  throw UsageError(
      fmt::format("asked for '{}' {}, but {}: where ranks are judged, each has only its own data and weights, and no "
                  "other rank's; hint: draw with the arguments that the task was given",
                  name, shape_text(sizes), sent));
}

}  // namespace

SentTensors::SentTensors(const CaseInputs& inputs) : inputs_(inputs), outer_(inputs_of_case) {
  inputs_of_case = &inputs_;
}

SentTensors::~SentTensors() {
  inputs_of_case = outer_;
}

at::Tensor sent_tensor(const std::string& name, at::IntArrayRef sizes, std::uint64_t seed) {
  if (inputs_of_case == nullptr) refuse(name, sizes, "no case is being performed");
  if (seed != inputs_of_case->seed) refuse(name, sizes, "from another seed than the task was given");
  const auto sent = inputs_of_case->tensors.find(name);
  if (sent == inputs_of_case->tensors.end() || !sent->second.defined())
    refuse(name, sizes, "this rank was sent no such tensor");
  if (sent->second.sizes() != sizes)
    refuse(name, sizes, fmt::format("this rank was sent {}", shape_text(sent->second.sizes())));
  return sent->second.detach().clone();
}

}  // namespace lab
