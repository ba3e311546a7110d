#pragma once

#include <cstdint>
#include <functional>

#include "optC_model_parallel/model/images.h"

namespace lab::optc {

/// Training data without downloads: ten classes of shapes and textures. Position, size and noise say nothing about the
/// class, and the background colour only a little, as ships are often on blue. A small network learns the colours in a
/// few epochs and the shapes in a few more, neither at once nor perfectly. A larger training set begins with the same
/// images, likewise for testing; training and test images differ.
/// Order     the same numbers give the same bytes on every machine: only integer arithmetic is used
/// Cost      about 16 microseconds per image; `on_batch`, if there is one, is called after each 1,024
/// Errors    ContractError: a negative number of images
Dataset generated_images(std::int64_t num_train, std::int64_t num_test, std::uint64_t seed,
                         const std::function<void()>& on_batch = {});

}  // namespace lab::optc
