#include "common/rank/start/warm_up.h"

#include <ATen/ATen.h>
#include <sys/random.h>

#include <cstdint>

#include "common/base/stack/student_frame.h"
#include "common/launch/one_rank.h"
#include "common/tensor/compute_threads.h"

namespace lab {

void warm_up() {
  use_threads(1);
  launch::compute_without_onednn();
  read_line_tables();
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    const at::Tensor x = at::ones({1, 2, 8, 8}, dtype);
    const at::Tensor rows = x.reshape({16, 8});
    at::softmax(at::matmul(rows, rows.t()), -1).sum().item<double>();
    at::rand({1}, dtype);
    at::conv2d(x, at::ones({2, 2, 3, 3}, dtype), at::zeros({2}, dtype), 1, 1).relu().mean();
  }
}

void draw_own_seed() {
  std::uint64_t seed = 0;
  if (::getrandom(&seed, sizeof seed, 0) == static_cast<ssize_t>(sizeof seed)) at::manual_seed(seed);
}

}  // namespace lab
