#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/rank/task_call.h"
#include "vae_sequence_parallel/conv2d.h"
#include "vae_sequence_parallel/model/config.h"

// What the inputs of a case say, as the arguments of modules.
namespace lab::vae {

/// The number "module".
enum class ModuleKind { kConv2d, kGroupNorm, kUpsample, kAttnBlock, kResnetBlock, kDecoder };
ModuleKind find_module_kind(const CaseInputs& inputs);

Conv2dOptions make_conv_options(const CaseInputs& inputs);

/// A config as numbers, and the inverse.
std::map<std::string, double> read_numbers(const AutoEncoderConfig& config);
AutoEncoderConfig make_config(const CaseInputs& inputs);

/// The "weight." tensors of a case, by parameter name.
TensorMap read_weights(const CaseInputs& inputs);

/// A tensor of integers, such as "input.widths".
std::vector<std::int64_t> integers(const CaseInputs& inputs, const std::string& name);

}  // namespace lab::vae
