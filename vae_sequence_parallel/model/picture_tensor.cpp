#include "vae_sequence_parallel/model/picture_tensor.h"

#include <fmt/format.h>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/tensor/files/picture.h"

namespace lab::vae {
namespace {

constexpr double kHalfRange = 127.5;  // maps samples 0 .. 255 to -1 .. 1

/// 0 .. size - 1, continued by mirroring until the count is a multiple.
at::Tensor mirrored_indices(int64_t size, int64_t multiple) {
  const int64_t count = (size + multiple - 1) / multiple * multiple;
  const int64_t period = size > 1 ? 2 * (size - 1) : 1;
  const at::Tensor phase = at::arange(count, at::kLong).remainder(period);
  return at::minimum(phase, period - phase);
}

}  // namespace

at::Tensor to_model_input(const at::Tensor& picture, int64_t multiple) {
  check_picture(picture);
  if (multiple < 1)
    throw ContractError(fmt::format("A picture is padded to a multiple of 1 or more, got {}.", multiple));
  const at::Tensor padded = picture.index_select(0, mirrored_indices(picture.size(0), multiple))
                                .index_select(1, mirrored_indices(picture.size(1), multiple));
  return padded.permute({2, 0, 1}).unsqueeze(0).to(at::kFloat).div(kHalfRange).sub(1.0).contiguous();
}

at::Tensor to_picture(const at::Tensor& image, int64_t height, int64_t width) {
  const bool is_image =
      image.defined() && image.is_floating_point() && image.dim() == 4 && image.size(0) == 1 && image.size(1) == 3;
  if (!is_image || height < 1 || width < 1 || image.size(2) < height || image.size(3) < width) {
    throw ContractError(fmt::format("A picture of {} x {} needs an image [1, 3, >= {}, >= {}] of floats, got {}.",
                                    height, width, height, width, describe(image)));
  }
  const at::Tensor cropped = image.detach()[0].slice(1, 0, height).slice(2, 0, width).to(at::kCPU, at::kFloat);
  const at::Tensor samples = cropped.nan_to_num(-1.0).clamp(-1.0, 1.0).add(1.0).mul(kHalfRange).round();
  return samples.to(at::kByte).permute({1, 2, 0}).contiguous();
}

}  // namespace lab::vae
