#include "common/tensor/compute_threads.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

namespace lab {

void use_threads(int num_threads) {
  at::set_num_threads(num_threads);
  // Other BLAS libraries do not have the function.
  using SetThreads = void (*)(int);
  if (const auto set_threads = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads")))
    set_threads(num_threads);
}

}  // namespace lab
