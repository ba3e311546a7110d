#pragma once

#include <cstdint>
#include <functional>

#include "optC_model_parallel/model/data/images.h"

namespace lab::optc {

/// Images to learn from where there are none at hand: ten classes of shapes and textures. Places, sizes and noise say
/// nothing about the class, and the colour behind it not much, as ships are seen on blue. A small network learns the
/// colours in some epochs and the shapes in some more, neither at once nor perfectly. The first `num_train` images of a
/// longer training set are the same, likewise for testing; training and test images are different ones.
/// Order     the same numbers give the same bytes on every machine: nothing but integers is computed with
/// Cost      about 16 microseconds per image; `on_batch`, if there is one, is called after each 1,024
/// Errors    ContractError: a negative number of images
Dataset generated_images(std::int64_t num_train, std::int64_t num_test, std::uint64_t seed,
                         const std::function<void()>& on_batch = {});

}  // namespace lab::optc
