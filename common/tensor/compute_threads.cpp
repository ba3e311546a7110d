#include "common/tensor/compute_threads.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

namespace lab {

void use_threads(int num_threads) {
  at::set_num_threads(num_threads);
  // Other BLAS libraries do not have these functions. In a forked process the second one first starts as many threads as
  // there were in the parent, whatever number it is given.
  const auto get_threads = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
  const auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (get_threads != nullptr && set_threads != nullptr && get_threads() != num_threads) set_threads(num_threads);
}

}  // namespace lab
