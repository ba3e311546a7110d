#include "optC_model_parallel/model/training_record.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/api/errors.h"
#include "common/tensor/files/safetensors.h"

namespace lab::optc {
namespace {

[[noreturn]] void refuse_record(const std::string& name) {
  throw UsageError(fmt::format("expected the record of a training, got '{}', which does not belong in one", name));
}

std::vector<double> read_doubles(const std::string& name, const at::Tensor& tensor) {
  if (tensor.scalar_type() != at::kDouble || tensor.dim() != 1) refuse_record(name);
  return doubles_in(tensor);
}

/// The parts of "epoch12.conv1.weight".
struct EpochName {
  std::size_t epoch = 0;  ///< from 1
  std::string name;
};

EpochName epoch_name(const std::string& text) {
  constexpr std::string_view kPrefix = "epoch";
  const std::size_t dot = text.find('.');
  EpochName parts;
  if (dot == std::string::npos || text.compare(0, kPrefix.size(), kPrefix) != 0) refuse_record(text);
  const auto [end, error] = std::from_chars(text.data() + kPrefix.size(), text.data() + dot, parts.epoch);
  if (error != std::errc() || end != text.data() + dot || parts.epoch < 1) refuse_record(text);
  parts.name = text.substr(dot + 1);
  return parts;
}

}  // namespace

TensorMap list_tensors(const TrainingRecord& record) {
  TensorMap all;
  all["losses"] = at::tensor(record.losses, at::kDouble);
  all["test_losses"] = at::tensor(record.test_losses, at::kDouble);
  all["accuracies"] = at::tensor(record.accuracies, at::kDouble);
  if (record.predictions.defined()) all["predictions"] = record.predictions;
  for (std::size_t i = 0; i < record.parameters.size(); ++i) {
    for (const auto& [name, tensor] : record.parameters[i]) all[fmt::format("epoch{}.{}", i + 1, name)] = tensor;
  }
  return all;
}

TrainingRecord make_record(const TensorMap& tensors) {
  TrainingRecord record;
  for (const char* needed : {"losses", "test_losses", "accuracies"}) {
    if (tensors.count(needed) == 0)
      throw UsageError(fmt::format("expected the record of a training, got one without '{}'", needed));
  }
  std::map<std::size_t, TensorMap> epochs;
  for (const auto& [name, tensor] : tensors) {
    if (name == "losses") {
      record.losses = read_doubles(name, tensor);
    } else if (name == "test_losses") {
      record.test_losses = read_doubles(name, tensor);
    } else if (name == "accuracies") {
      record.accuracies = read_doubles(name, tensor);
    } else if (name == "predictions") {
      record.predictions = tensor;
    } else {
      const EpochName parts = epoch_name(name);
      epochs[parts.epoch][parts.name] = tensor;
    }
  }
  for (auto& [epoch, parameters] : epochs) {
    record.parameters.push_back(std::move(parameters));
    if (record.parameters.size() != epoch) refuse_record(fmt::format("epoch{}", epoch));
  }
  return record;
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
