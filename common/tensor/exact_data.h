#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "common/api/partition.h"

namespace lab {

/// The integers that exact_values() draws from, few enough that their sums need no rounding in any order.
/// `max_terms` values may be summed; of products of two values (a matrix product, summed over ranks), `max_products`.
///
///     dtype             values         max_terms   max_products
///     float64, int64    -4095..4095    2^41        2^29
///     float32, int32    -63..63        266,305     4,227
///     float16           -2..2          1,024       512
///     bfloat16          -1..1          256         256
///     int16             -15..15        2,184       145
///     int8              -15..15        8           0
///     uint8             0..30          8           0
///     bool              0..1           1           1
///
/// Sums of integers beyond max_terms wrap around, still the same in any order.
struct ExactRange {
  int64_t lowest = 0;
  int64_t highest = 0;
  int64_t max_terms = 0;
  int64_t max_products = 0;
};

/// Errors    ContractError: a dtype that is not in the table
ExactRange exact_range(at::ScalarType dtype);

/// Data that exposes bugs: every sum of it is exact, so any order of summation gives the same bits; and values depend
/// on their position, so that permuted or repeated chunks are detected. With n >= 31 values to draw from, no value
/// repeats among the first n positions, nor among the next n.
/// Errors    ContractError: a dtype that is not in the table
at::Tensor exact_values(at::IntArrayRef sizes, at::ScalarType dtype, uint64_t seed);

/// Like exact_values(), but different on each rank. With 31 values or more to draw from, as many ranks as there are
/// values differ at every position; in float64, float32, int64 and int32 the first 8 elements of the first 8 ranks are
/// 64 different numbers. From one rank's values nothing follows about another's, unless the seed is known.
/// Errors    ContractError: a dtype that is not in the table; a negative rank
at::Tensor exact_values_for_rank(at::IntArrayRef sizes, at::ScalarType dtype, uint64_t seed, int64_t rank);

/// Those of `num_ranks` ranks, in a fraction of the time that it takes to draw each one's alone.
/// Errors    as exact_values_for_rank(); ContractError: no rank
std::vector<at::Tensor> exact_values_of_ranks(at::IntArrayRef sizes, at::ScalarType dtype, uint64_t seed,
                                              int64_t first_rank, int64_t num_ranks);

/// Fills the tensor with a value that no result may contain: NaN; for signed integers the lowest value, for uint8 and
/// bool the highest (their lowest, 0, is too often correct).
/// Aliasing  fills the tensor itself and returns it
at::Tensor poison_(at::Tensor tensor);

/// A copy of which only this part along the dimension is left: the rest is poisoned.
at::Tensor only_part(const at::Tensor& whole, int64_t dim, const Slice& part);

}  // namespace lab
