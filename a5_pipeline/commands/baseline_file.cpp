#include "a5_pipeline/commands/baseline_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "a5_pipeline/baseline.h"
#include "common/api/errors.h"
#include "common/launch/supervise/run_directory.h"
#include "common/rank/measured_use.h"
#include "common/tensor/files/safetensors.h"

namespace lab::a5 {
namespace {

void require_signal(const std::string& name, const at::Tensor& tensor) {
  const double norm = tensor.norm().item<double>();
  if (norm > 0 && std::isfinite(norm)) return;
  throw ContractError(
      fmt::format("the baseline's {} has norm {}; expected one above 0, without which a comparison proves nothing; "
                  "hint: another --seed or --dtype",
                  name, norm));
}

TensorMap baseline(const PipelineArguments& arguments, const std::function<void()>& report) {
  const std::int64_t num_passes = 2 * arguments.number_of_micro_batches();
  std::int64_t num_reports_left = arguments.number_of_layers * (1 + num_passes);
  const Model model(arguments, all_layers(arguments), [&] {
    if (report && num_reports_left-- > 0) report();
  });
  DataLoader data(arguments);
  TensorMap results;
  const std::vector<at::Tensor> outputs = baseline_forward_backward(model, data, arguments);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    require_signal(fmt::format("output {}", i), outputs[i]);
    results[fmt::format("output{}", i)] = outputs[i];
  }
  for (const auto& [name, gradient] : model.gradients()) {
    if (!gradient.defined()) throw ContractError(fmt::format("the baseline left no gradient at {}", name));
    require_signal("gradient of " + name, gradient);
    results[name] = gradient;
  }
  return results;
}

}  // namespace

at::Tensor BaselineFile::read(const std::string& name) const {
  // Mapped again each time, so that a tensor read before does not stay in memory once it is released.
  const TensorMap tensors = load_safetensors(fmt::format("/proc/self/fd/{}", file_.get()));
  const auto found = tensors.find(name);
  if (found == tensors.end()) throw ContractError(fmt::format("the baseline has no tensor '{}'", name));
  return found->second;
}

BaselineFile run_baseline(const PipelineArguments& arguments, const std::function<void()>& report) {
  UniqueFd file;
  ResourceUse used;
  {
    TensorMap results;
    used = measured_use_of_one_process([&] { results = baseline(arguments, report); });
    // Created only now, and briefly: a rank that is killed during the baseline leaves nothing behind.
    const launch::RunDirectory folder("/var/tmp");  // on disk, while other temporary folders may be in memory
    const std::string path = folder.path() + "/baseline.safetensors";
    save_safetensors(path, results);
    file = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) throw UsageError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  ::malloc_trim(0);
  return BaselineFile(std::move(file), used);
}

}  // namespace lab::a5
