#include "common/tensor/gpus.h"

#include "common/testing/get_message.h"
#include "common/testing/test.h"

namespace lab {
namespace {

TEST_CASE("--device cuda without a GPU is one sentence") {
  CHECK(gpus_for("cpu") == 0);
  CHECK(device_of_rank(0, 3).is_cpu());
  CHECK(device_of_rank(2, 3) == at::Device(at::kCUDA, 1));
  if (at::hasCUDA()) {
    MESSAGE("skipped: this LibTorch has CUDA");
    return;
  }
  CHECK(testing::get_message([] { gpus_for("cuda"); }) ==
        "--device cuda: this LibTorch has no CUDA, or there is no GPU; hint: leave --device out to use the CPU");
}

}  // namespace
}  // namespace lab
