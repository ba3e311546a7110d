#include "common/tensor/gpus.h"

#include <c10/core/AutogradState.h>
#include <sys/wait.h>

#include <algorithm>

#include "common/api/errors.h"
#include "common/base/subprocess.h"

namespace lab {
namespace {

/// The process that counts exits with this code for no GPU, the next one for one GPU, and so on; an exception's code is
/// below.
constexpr int kNoGpu = 100;
constexpr int kMostGpus = 64;

template <class State>
auto run_backward_here(State& state, int) -> decltype(state.set_multithreading_enabled(false)) {
  state.set_multithreading_enabled(false);
}
template <class State>
void run_backward_here(State&, ...) {
  throw UsageError("--device cuda: expected LibTorch 2.0 or later, where backward() can run on its rank's thread");
}

}  // namespace

int gpus_for(const std::string& device) {
  if (device != "cuda") return 0;
  const pid_t counting = fork_process(
      [] { return kNoGpu + (at::hasCUDA() ? std::min<int>(static_cast<int>(at::getNumGPUs()), kMostGpus) : 0); });
  int status = 0;
  ::waitpid(counting, &status, 0);
  const int num_gpus = std::max(0, exit_code_of_status(status) - kNoGpu);
  if (num_gpus == 0 || num_gpus > kMostGpus)
    throw UsageError(
        "--device cuda: this LibTorch has no CUDA, or there is no GPU; hint: leave --device out to use the CPU");
  return num_gpus;
}

at::Device device_of_rank(int num_gpus, int local_rank) {
  if (num_gpus == 0) return at::kCPU;
  return at::Device(at::kCUDA, static_cast<at::DeviceIndex>(local_rank % num_gpus));
}

void prepare_device(at::Device device) {
  if (!device.is_cuda()) return;
  at::globalContext().setAllowTF32CuDNN(false);
  at::globalContext().setDeterministicCuDNN(true);
  run_backward_here(c10::AutogradState::get_tls_state(), 0);
}

}  // namespace lab
