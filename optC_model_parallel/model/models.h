#pragma once

#include <string>
#include <vector>

#include "optC_model_parallel/model/blocks.h"
#include "optC_model_parallel/model/model.h"

namespace lab::optc {

/// Models that are split into stages. All process images independently, so micro-batches do not change results.
///   tutorial   the CIFAR-10 tutorial's net: conv 3->6 k5, conv 6->16 k5, each with relu and pool, fc 400-120-84-10;
///              5 layers
///   deep       eight layers, five of them convolutions: for eight stages, such as interleaved on 4 ranks
const std::vector<std::string>& pipeline_model_names();

/// Models whose layers are split over ranks.
///   pair       the tutorial's net, its layers fc1 and fc2 as one block: linear, relu, linear
///   pair-norm  the same with a LayerNorm between fc1 and its relu
///   vit        patches of 4 x 4, 48 wide, learned positions, 2 pre-norm Transformer blocks of 4 heads, mean over
///              positions
///   resnet     a convolution, 3 residual blocks of 24 channels with BatchNorm, a norm and mean over pixels
/// pair, pair-norm, and resnet can be split over 1 2 3 4 6 8 12 and more ranks (the widths that are split are 120 and
/// 24), pair and pair-norm also over 5; vit over 1 2 4.
const std::vector<std::string>& tensor_model_names();

/// Any of these models, built from the given blocks.
/// Errors    UsageError: an unknown name; the known ones are listed
ModelSpec model_named(const std::string& name, const Blocks& blocks = serial_blocks());

}  // namespace lab::optc
