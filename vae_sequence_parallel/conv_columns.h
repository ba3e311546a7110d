#pragma once

#include <cstdint>
#include <vector>

#include "common/tensor/partition.h"
#include "vae_sequence_parallel/layers.h"

// Which columns a convolution needs where, when its input is split along the width. Whole-picture column numbers.
namespace lab::vae {

/// A rank's columns of the input and of the output, and those of the input that its output is made from.
struct ConvColumns {
  Slice own;     ///< of the input
  Slice output;  ///< an output column belongs to the rank that has its centre input column
  /// [needed.begin, needed.end()) of the input with its zeros: may begin below 0 and end beyond the picture.
  Slice needed;
};

/// Of every rank. Where the centre column lies in the zeros (padding beyond kernel / 2), the output column belongs to
/// the first or the last rank that has columns. Of a rank without output columns, needed is empty.
/// Errors    ContractError: an even kernel, a stride below 1, a negative padding, a picture with zeros narrower than
///           the kernel
/// Example   widths 3 2, kernel 3, stride 1, padding 1: rank 0 has 0-2, makes 0-2, needs -1 to 3;
///           rank 1 has 3-4, makes 3-4, needs 2 to 5
std::vector<ConvColumns> conv_columns(const std::vector<std::int64_t>& widths, const Conv2dOptions& options);

/// What two slices share; of size 0 if nothing.
Slice overlap(const Slice& left, const Slice& right);

}  // namespace lab::vae
