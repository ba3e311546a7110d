#include "optC_model_parallel/model/training/batched_logits.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "optC_model_parallel/model/data/batches.h"

namespace lab::optc {

at::Tensor batched_logits(const Images& images, const at::TensorOptions& options,
                          const std::function<at::Tensor(const at::Tensor& x)>& function,
                          const std::function<void()>& on_batch) {
  constexpr std::int64_t kBatch = 256;
  const c10::NoGradGuard no_gradient;
  std::vector<at::Tensor> parts;
  std::int64_t done = 0;
  do {
    const std::int64_t end = std::min(done + kBatch, images.size());
    parts.push_back(function(normalized(images, at::arange(done, end, at::kLong), options)));
    done = end;
    if (on_batch) on_batch();
  } while (done < images.size());
  return parts.front().defined() ? at::cat(parts).cpu() : at::Tensor();
}

}  // namespace lab::optc
