#pragma once

#include <functional>
#include <string>
#include <vector>

#include "optC_model_parallel/model/data/images.h"

namespace lab::optc {

/// The files of a folder with CIFAR-10's binary version: for training data_batch_*.bin, or else *train*.bin; for
/// testing test_batch.bin, or else *test*.bin; in the order of their names.
struct CifarFiles {
  std::vector<std::string> train;
  std::vector<std::string> test;
};

/// Errors    UsageError: no such folder, or no file of one of the two kinds in it
CifarFiles find_cifar_files(const std::string& folder);

/// All images of the files, one file after the other.
/// Errors    UsageError: a file that cannot be read, is empty, or is not a multiple of the record size of 1 + 3072
///           bytes (with a hint if its size fits CIFAR-100's 2 + 3072); a label above 9, with the record's number
/// Source    https://www.cs.toronto.edu/~kriz/cifar.html, "binary version"
Images read_cifar(const std::vector<std::string>& files, const std::function<void()>& on_file = {});

/// Training and test images. `on_file` is called after each file.
Dataset load_cifar(const std::string& folder, const std::function<void()>& on_file = {});

}  // namespace lab::optc
