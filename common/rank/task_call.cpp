#include "common/rank/task_call.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "common/tensor/files/safetensors.h"

namespace lab {
namespace {

const char* const kInputsKey = "inputs";  // of the file's metadata

template <typename Map>
const typename Map::mapped_type& require(const Map& map, const std::string& name, const char* what) {
  const auto found = map.find(name);
  if (found == map.end()) throw ContractError(fmt::format("{} '{}' is missing", what, name));
  return found->second;
}

}  // namespace

const at::Tensor& CaseInputs::tensor(const std::string& key) const {
  return require(tensors, key, "input tensor");
}
double CaseInputs::number(const std::string& key) const {
  return require(numbers, key, "input number");
}
std::int64_t CaseInputs::integer(const std::string& key) const {
  return static_cast<std::int64_t>(number(key));
}

std::string to_bytes(const CaseInputs& inputs) {
  TensorMap defined;
  std::vector<std::string> undefined;
  for (const auto& [name, tensor] : inputs.tensors) {
    if (tensor.defined()) {
      defined[name] = tensor.detach();
    } else {
      undefined.push_back(name);
    }
  }
  const nlohmann::json text = {{"task", inputs.task},    {"name", inputs.name},       {"call", inputs.call},
                               {"last", inputs.is_last}, {"numbers", inputs.numbers}, {"seed", inputs.seed},
                               {"undefined", undefined}};
  return to_safetensors(defined, {{kInputsKey, text.dump()}});
}

CaseInputs inputs_from_bytes(const std::string& bytes) {
  SafetensorsContent content = from_safetensors(bytes, "a case's inputs");
  CaseInputs inputs;
  try {
    const nlohmann::json text = nlohmann::json::parse(content.metadata.at(kInputsKey));
    text.at("task").get_to(inputs.task);
    text.at("name").get_to(inputs.name);
    text.at("call").get_to(inputs.call);
    text.at("last").get_to(inputs.is_last);
    text.at("numbers").get_to(inputs.numbers);
    text.at("seed").get_to(inputs.seed);
    inputs.tensors = std::move(content.tensors);
    for (const auto& name : text.at("undefined")) inputs.tensors[name.get<std::string>()] = at::Tensor();
  } catch (const std::exception& failure) {
    throw UsageError(fmt::format("a case's inputs that cannot be read: {}", failure.what()));
  }
  return inputs;
}

bool can_go_backward(const at::Tensor& out, const at::Tensor& grad_out) {
  return out.defined() && out.requires_grad() && out.sizes() == grad_out.sizes();
}

at::Tensor without_graph(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.detach() : tensor;
}

at::Tensor with_other_strides(const at::Tensor& tensor) {
  return tensor.transpose(0, -1).clone(at::MemoryFormat::Contiguous).transpose(0, -1);
}

}  // namespace lab
