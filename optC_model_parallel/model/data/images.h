#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace lab::optc {

constexpr std::int64_t kNumClasses = 10;
constexpr std::int64_t kImageSide = 32;
constexpr std::int64_t kImageChannels = 3;

/// Labelled images in CIFAR-10's format, as bytes: the data set stays small, and batches are converted when needed.
struct Images {
  at::Tensor pixels;  ///< [N, 3, 32, 32] uint8
  at::Tensor labels;  ///< [N] int64, from 0 to 9

  std::int64_t size() const { return labels.size(0); }
};

struct Dataset {
  Images train;
  Images test;
};

}  // namespace lab::optc
