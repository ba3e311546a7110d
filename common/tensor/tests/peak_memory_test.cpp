#include "common/api/peak_memory.h"

#include "common/api/errors.h"
#include "common/tensor/meters/cuda_memory.h"
#include "common/tensor/meters/memory_meter.h"
#include "common/testing/test.h"

// The peak of what was held at once, beyond what was held before.
namespace lab {
namespace {

TEST_CASE("the peak counts what is held at once, not everything allocated") {
  install_memory_meter();
  const at::Tensor before = at::empty({4096});
  const PeakMemory memory(at::kCPU);
  CHECK(memory.peak_bytes() == 0);
  for (int i = 0; i < 3; ++i) at::empty({1024});
  CHECK(memory.peak_bytes() == 4096);
  CHECK(memory.held_bytes() == 0);
  const at::Tensor first = at::empty({1024});
  const at::Tensor second = at::empty({512});
  CHECK(memory.peak_bytes() == 6144);
  CHECK(memory.held_bytes() == 6144);
}

TEST_CASE("one that is created later starts at zero") {
  install_memory_meter();
  const PeakMemory outer(at::kCPU);
  const at::Tensor held = at::empty({1024});
  const PeakMemory inner(at::kCPU);
  const at::Tensor more = at::empty({256});
  CHECK(inner.peak_bytes() == 1024);
  CHECK(outer.peak_bytes() == 5120);
}

TEST_CASE("on a GPU it is what the allocator held") {
  if (!at::hasCUDA()) {
    MESSAGE("skipped: no GPU that this LibTorch can use");
    return;
  }
  const auto options = at::TensorOptions(at::kByte).device(at::Device(at::kCUDA, 0));
  constexpr std::int64_t kMiB = 1 << 20;
  const at::Tensor before = at::empty({8 * kMiB}, options);
  const PeakMemory memory(options.device());
  { const at::Tensor first = at::empty({3 * kMiB}, options), second = at::empty({2 * kMiB}, options); }
  const at::Tensor held = at::empty({kMiB}, options);
  CHECK(memory.peak_bytes() == 5 * kMiB);
  CHECK(memory.held_bytes() == kMiB);
}

TEST_CASE("a GPU without CUDA is refused") {
  if (at::hasCUDA()) {
    MESSAGE("skipped: this LibTorch has CUDA");
    return;
  }
  CHECK_THROWS_AS(PeakMemory(at::Device(at::kCUDA, 0)), ContractError);
  CHECK_THROWS_AS(read_cuda_memory(0), ContractError);
}

}  // namespace
}  // namespace lab
