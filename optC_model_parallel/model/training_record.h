#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "common/api/tensor_map.h"
#include "common/base/costs.h"

namespace lab::optc {

/// The results of a training, as far as this rank knows them.
struct TrainingRecord {
  std::vector<double> losses;         ///< of each step; empty on ranks that do not see it
  std::vector<double> test_losses;    ///< after each epoch, mean over the test images; likewise
  std::vector<double> accuracies;     ///< after each epoch, of the test images, from 0 to 1; likewise
  std::vector<TensorMap> parameters;  ///< after each epoch: this rank's, whole or shards
  ResourceUse used;                   ///< by the training, where it was measured; not part of the record's file
  at::Tensor predictions;             ///< [num_test] int64, after the last epoch; undefined if not known
};

/// The numbers of a float64 tensor, in order.
inline std::vector<double> doubles_in(const at::Tensor& tensor) {
  const at::Tensor numbers = tensor.contiguous();
  return {numbers.data_ptr<double>(), numbers.data_ptr<double>() + numbers.numel()};
}

/// "losses", "test_losses", "accuracies" [n] float64, "predictions", "epoch1.conv1.weight" ...; and back.
/// Aliasing  parameters and predictions share storage
/// Errors    UsageError: tensors that are not a record
TensorMap list_tensors(const TrainingRecord& record);
TrainingRecord make_record(const TensorMap& tensors);

/// The tensors whose names begin with the prefix, without it.
TensorMap tensors_after(const std::string& prefix, const TensorMap& tensors);

/// The same as one safetensors file.
/// Errors    UsageError: the file cannot be written or read; load: the file is not a record
void save_record(const std::string& path, const TrainingRecord& record);
TrainingRecord load_record(const std::string& path);

}  // namespace lab::optc
