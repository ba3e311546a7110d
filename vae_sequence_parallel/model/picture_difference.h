#pragma once

#include <ATen/ATen.h>

#include <cstdint>

// How much two pictures differ. All functions take pictures, uint8 [H, W, 3], and throw ContractError for anything else
// or for different sizes.
namespace lab::vae {

/// The peak signal-to-noise ratio in decibels: 10 log10(255^2 / mean squared difference); infinity for equal pictures.
/// Example   all samples differ by 1: 48.13; above 30, differences are hard to see
double psnr(const at::Tensor& a, const at::Tensor& b);

/// The absolute differences times the factor, clamped to 255: black where the pictures agree.
/// Errors    ContractError: also a factor below 1
at::Tensor difference_picture(const at::Tensor& a, const at::Tensor& b, int64_t factor);

/// Counts of 8-bit samples, three per pixel: those that differ by exactly one, which may be rounding, and by more.
struct SampleDifferences {
  int64_t one_step = 0;
  int64_t more = 0;
  int64_t total = 0;
};
SampleDifferences sample_differences(const at::Tensor& a, const at::Tensor& b);

}  // namespace lab::vae
