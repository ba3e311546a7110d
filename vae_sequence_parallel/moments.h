#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

namespace lab::vae {

/// For each group of channels of each picture: the number of values, their mean, and the sum of their squared distances
/// from it (M2). Unlike E[x^2] - E[x]^2, these lose no precision if the mean is large compared with the deviation.
/// Shapes    x [B, C, H, W] of any float dtype, C a multiple of num_groups; out [B, num_groups, 3] float64: n, mean,
///           M2. Without columns: zeros
/// Order     all in float64: results rounded to float32 later have the same bits however a picture is split
/// Cost      reads x about once; temporaries of a few rows of x
/// Source    Chan, Golub, LeVeque (1979)
at::Tensor local_moments(const at::Tensor& x, std::int64_t num_groups);

/// The moments of all values together, from those of each part.
/// Shapes    each part and out [..., 3]: n, mean, M2
/// Order     from part 0 on: the same parts give the same bits
/// Example   {n 1, mean 2, M2 0} and {n 3, mean 6, M2 6}: {n 4, mean 5, M2 18}
at::Tensor merged_moments(const std::vector<at::Tensor>& parts);

/// Expands a value per group, [B, G], to its channels: [B, C, 1, 1], which broadcasts with [B, C, H, W].
at::Tensor of_channels(const at::Tensor& of_groups, std::int64_t num_channels);

/// Statistics of groups from their moments, each [B, G] float64.
struct GroupStatistics {
  GroupStatistics(const at::Tensor& moments, double epsilon);

  at::Tensor n;  ///< at least 1
  at::Tensor mean;
  at::Tensor rstd;  ///< 1 / sqrt(M2 / n + epsilon)
};

/// (x - mean) * rstd * weight + bias, as x * scale + shift: x is read once.
/// Shapes    x [B, C, H, W]; weight, bias [C]; out as x, with its memory format
/// Order     scale and shift in float64, rounded to x's dtype once; the result is off by about 1e-7 of the mean at most
at::Tensor normalized(const at::Tensor& x, const GroupStatistics& statistics, const at::Tensor& weight,
                      const at::Tensor& bias);

}  // namespace lab::vae
