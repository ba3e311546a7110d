#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/api/partition.h"

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

/// The order of the images in an epoch: a shuffle that depends only on these numbers, on any machine.
std::vector<std::int64_t> epoch_order(std::int64_t num_images, std::uint64_t seed, std::int64_t epoch);

/// Which images each batch of an epoch has. Of 130 images in batches of 64 the last batch has 2.
class EpochBatches {
 public:
  /// Errors    ContractError: a negative number of images, a batch size below 1
  EpochBatches(std::int64_t num_images, std::int64_t batch_size, std::uint64_t seed, std::int64_t epoch);
  /// With the caller's order, [N] int64, in which an image may occur several times.
  EpochBatches(at::Tensor order, std::int64_t batch_size);

  std::int64_t size() const;                     ///< number of batches
  at::Tensor indices(std::int64_t batch) const;  ///< [B] int64, a view

 private:
  at::Tensor order_;
  std::int64_t batch_size_;
};

/// The number of batches of an epoch.
std::int64_t num_batches(std::int64_t num_images, std::int64_t batch_size);

/// These images as a model's input: [B, 3, 32, 32], pixels from -1 to 1, (x / 255 - 0.5) / 0.5.
at::Tensor normalized(const Images& images, const at::Tensor& indices, const at::TensorOptions& options);

/// [B] int64
at::Tensor take_labels(const Images& images, const at::Tensor& indices);

/// The files of a folder with CIFAR-10's binary version: for training data_batch_*.bin, or else *train*.bin; for
/// testing test_batch.bin, or else *test*.bin; in the order of their names.
/// Errors    UsageError: no such folder, or no file of one of the two kinds in it
struct CifarFiles {
  explicit CifarFiles(const std::string& folder);

  std::vector<std::string> train, test;
};

/// All images of the files, one file after the other; `on_file` is called after each.
/// Errors    UsageError: a file that cannot be read, is empty, or is not a multiple of the record size of 1 + 3072
///           bytes (with a hint if its size fits CIFAR-100's 2 + 3072); a label above 9, with the record's number
/// Source    https://www.cs.toronto.edu/~kriz/cifar.html, "binary version"
Images read_cifar(const std::vector<std::string>& files, const std::function<void()>& on_file = {});

/// Training and test images.
Dataset load_cifar(const std::string& folder, const std::function<void()>& on_file = {});

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
