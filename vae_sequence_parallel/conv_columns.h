#pragma once

#include <cstdint>
#include <vector>

#include "common/api/partition.h"
#include "vae_sequence_parallel/layers.h"

// Which input columns each rank needs for a convolution whose input is split along the width. Column numbers are those
// of the whole picture.
namespace lab::vae {

/// A rank's input and output columns, and the input columns that its output is computed from.
struct ConvColumns {
  Slice own;     ///< of the input
  Slice output;  ///< an output column belongs to the rank that has its centre input column
  /// Of the zero-padded input: may begin below 0 and end beyond the picture.
  Slice needed;
};

/// One entry per rank. If the centre column lies in the padding (padding larger than kernel / 2), the output column
/// belongs to the first or last rank that has columns. For a rank without output columns, needed is empty.
/// Errors    ContractError: an even kernel, a stride below 1, negative padding, a padded picture narrower than the
///           kernel
/// Example   widths 3 2, kernel 3, stride 1, padding 1: rank 0 has 0-2, makes 0-2, needs -1 to 3;
///           rank 1 has 3-4, makes 3-4, needs 2 to 5
std::vector<ConvColumns> conv_columns(const std::vector<std::int64_t>& widths, const Conv2dOptions& options);

/// The intersection of two slices; size 0 if they do not overlap.
Slice overlap(const Slice& left, const Slice& right);

}  // namespace lab::vae
