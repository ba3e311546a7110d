#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/tensor/tensor_map.h"

namespace lab::optc {

/// What a training went through, as far as this rank knows.
struct TrainingRecord {
  std::vector<double> losses;         ///< of each step; empty on ranks that do not see it
  std::vector<double> test_losses;    ///< after each epoch, mean over the test images; likewise
  std::vector<double> accuracies;     ///< after each epoch, of the test images, from 0 to 1; likewise
  std::vector<TensorMap> parameters;  ///< after each epoch: this rank's, whole or shards
  at::Tensor predictions;             ///< [num_test] int64, after the last epoch; undefined where it is not known
};

/// "losses", "test_losses", "accuracies" [n] float64, "predictions", "epoch1.conv1.weight" ...; and back.
/// Aliasing  parameters and predictions share storage
/// Errors    UsageError: tensors that are no record
TensorMap tensors_of(const TrainingRecord& record);
TrainingRecord record_of(const TensorMap& tensors);

/// One safetensors file of them.
/// Errors    UsageError: the file; of load: a file that is no record
void save_record(const std::string& path, const TrainingRecord& record);
TrainingRecord load_record(const std::string& path);

}  // namespace lab::optc
