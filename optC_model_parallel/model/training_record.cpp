#include "optC_model_parallel/model/training_record.h"

#include <fmt/format.h>

#include "common/api/errors.h"
#include "common/tensor/files/safetensors.h"

namespace lab::optc {

TensorMap list_tensors(const TrainingRecord& record) {
  TensorMap all = {{"losses", at::tensor(record.losses, at::kDouble)},
                   {"test_losses", at::tensor(record.test_losses, at::kDouble)},
                   {"accuracies", at::tensor(record.accuracies, at::kDouble)}};
  if (record.predictions.defined()) all["predictions"] = record.predictions;
  for (std::size_t i = 0; i < record.parameters.size(); ++i) {
    for (const auto& [name, tensor] : record.parameters[i]) all[fmt::format("epoch{}.{}", i + 1, name)] = tensor;
  }
  return all;
}

TrainingRecord make_record(const TensorMap& tensors) {
  const auto numbers = [&](const char* name) {
    const auto found = tensors.find(name);
    if (found == tensors.end() || found->second.scalar_type() != at::kDouble || found->second.dim() != 1)
      throw UsageError(fmt::format("expected the record of a training, got one without the numbers '{}'", name));
    return doubles_in(found->second);
  };
  TrainingRecord record;
  record.losses = numbers("losses");
  record.test_losses = numbers("test_losses");
  record.accuracies = numbers("accuracies");
  std::size_t num_known = 3 + tensors.count("predictions");
  if (num_known > 3) record.predictions = tensors.at("predictions");
  while (true) {
    TensorMap epoch = tensors_after(fmt::format("epoch{}.", record.parameters.size() + 1), tensors);
    if (epoch.empty()) break;
    num_known += epoch.size();
    record.parameters.push_back(std::move(epoch));
  }
  if (num_known != tensors.size())
    throw UsageError("expected the record of a training, got tensors that do not belong in one");
  return record;
}

TensorMap tensors_after(const std::string& prefix, const TensorMap& tensors) {
  TensorMap part;
  for (const auto& [name, tensor] : tensors) {
    if (name.compare(0, prefix.size(), prefix) == 0) part[name.substr(prefix.size())] = tensor;
  }
  return part;
}

void save_record(const std::string& path, const TrainingRecord& record) {
  save_safetensors(path, list_tensors(record));
}

TrainingRecord load_record(const std::string& path) {
  TensorMap tensors = load_safetensors(path);
  for (auto& [name, tensor] : tensors) tensor = tensor.clone();  // the file may be replaced while the record lives
  try {
    return make_record(tensors);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("'{}': {}", path, error.what()));
  }
}

}  // namespace lab::optc
