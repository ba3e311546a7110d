#include "common/rank/parcel.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "common/base/errors.h"
#include "common/tensor/files/safetensors.h"

namespace lab {
namespace {

const char* const kParcelKey = "parcel";  // of the file's metadata

}  // namespace

std::string bytes_of_parcel(const Parcel& parcel) {
  TensorMap defined;
  std::vector<std::string> undefined;
  for (const auto& [name, tensor] : parcel.inputs.tensors) {
    if (tensor.defined()) {
      defined[name] = tensor.detach();
    } else {
      undefined.push_back(name);
    }
  }
  const nlohmann::json text = {{"task", parcel.task},
                               {"name", parcel.name},
                               {"numbers", parcel.inputs.numbers},
                               {"seed", parcel.inputs.seed},
                               {"undefined", undefined}};
  return to_safetensors(defined, {{kParcelKey, text.dump()}});
}

Parcel parcel_from_bytes(const std::string& bytes) {
  SafetensorsContent content = from_safetensors(bytes, "a parcel");
  Parcel parcel;
  try {
    const nlohmann::json text = nlohmann::json::parse(content.metadata.at(kParcelKey));
    text.at("task").get_to(parcel.task);
    text.at("name").get_to(parcel.name);
    text.at("numbers").get_to(parcel.inputs.numbers);
    text.at("seed").get_to(parcel.inputs.seed);
    parcel.inputs.tensors = std::move(content.tensors);
    for (const auto& name : text.at("undefined")) parcel.inputs.tensors[name.get<std::string>()] = at::Tensor();
  } catch (const std::exception& failure) {
    throw UsageError(fmt::format("a parcel that cannot be read: {}", failure.what()));
  }
  return parcel;
}

}  // namespace lab
