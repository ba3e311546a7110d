#include "common/api/errors.h"
#include "common/tensor/meters/cuda_memory.h"

namespace lab {
namespace {

[[noreturn]] void refuse() {
  throw ContractError("the memory of a GPU: expected a LibTorch with CUDA, this build has none");
}

}  // namespace

CudaMemoryReading read_cuda_memory(int) {
  refuse();
}

void reset_cuda_peak(int) {
  refuse();
}

}  // namespace lab
