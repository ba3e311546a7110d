#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "optC_model_parallel/model.h"

// The layers that several models are made of.
namespace lab::optc {

/// NAME.weight [out, in] and NAME.bias [out].
std::vector<ParameterSpec> linear_parameters(const std::string& name, std::int64_t in, std::int64_t out,
                                             Fill fill = Fill::kUniform);

/// NAME.weight [out, in, kernel, kernel] and NAME.bias [out].
std::vector<ParameterSpec> convolution_parameters(const std::string& name, std::int64_t in, std::int64_t out,
                                                  std::int64_t kernel, Fill fill = Fill::kUniform);

/// NAME.weight [width], ones, and NAME.bias [width], zeros.
std::vector<ParameterSpec> norm_parameters(const std::string& name, std::int64_t width);

/// The same, split over ranks by their first dimension, in units of `unit` rows.
std::vector<ParameterSpec> split_by_rows(std::vector<ParameterSpec> parameters, std::int64_t unit = 1);

/// The same, with weights split over ranks by their second dimension; biases stay whole.
std::vector<ParameterSpec> split_by_columns(std::vector<ParameterSpec> parameters);

/// All parts, concatenated.
std::vector<ParameterSpec> joined(std::vector<std::vector<ParameterSpec>> parts);

struct ConvolutionOptions {
  std::int64_t in_channels = 3;
  std::int64_t out_channels = 1;
  std::int64_t kernel = 3;
  std::int64_t in_side = 32;
  std::int64_t padding = 0;
  std::int64_t stride = 1;
  bool pool = false;  ///< 2 x 2 max-pool
  Fill fill = Fill::kUniform;
};

/// Convolution, relu, and optionally a pool. x [B, in_channels, in_side, in_side]
LayerSpec convolution_layer(const std::string& name, const ConvolutionOptions& options);

enum class Activation { kRelu, kNone };

/// x [B, ...] with `in` values per image -> [B, out]
LayerSpec linear_layer(const std::string& name, std::int64_t in, std::int64_t out,
                       Activation activation = Activation::kRelu, Fill fill = Fill::kUniform);

}  // namespace lab::optc
