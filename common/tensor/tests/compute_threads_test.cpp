#include "common/tensor/compute_threads.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

#include "common/testing/test.h"

namespace lab {
namespace {

/// Of OpenBLAS's pool; 0 where another BLAS is used.
int blas_threads() {
  const auto threads = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
  return threads == nullptr ? 0 : threads();
}

TEST_CASE("a test program computes with one thread, and use_threads() sets LibTorch's number and the BLAS's") {
  CHECK(at::get_num_threads() == 1);
  if (blas_threads() == 0) MESSAGE("skipped for the BLAS: it is not OpenBLAS");
  if (blas_threads() != 0) CHECK(blas_threads() == 1);
  use_threads(2);
  CHECK(at::get_num_threads() == 2);
  if (blas_threads() != 0) CHECK(blas_threads() == 2);
  use_threads(1);
}

}  // namespace
}  // namespace lab
