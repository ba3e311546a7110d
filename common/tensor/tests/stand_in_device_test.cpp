#include "common/testing/stand_in_device.h"

#include <sys/wait.h>

#include <csignal>

#include "common/base/subprocess.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"

// The device that tests use in place of a GPU must be as strict as one, or a test on it shows nothing.
namespace lab {
namespace {

using testing::contains;

const at::Device kDevice = testing::stand_in_device(3);

TEST_CASE("it computes what the CPU computes, with views, in place and backward") {
  if (at::hasCUDA()) {
    MESSAGE("skipped: this LibTorch has CUDA, whose backward() knows no other device");
    return;
  }
  const at::Tensor x = at::arange(6, at::kDouble).view({2, 3}).requires_grad_();
  const at::Tensor far = x.detach().to(kDevice).requires_grad_();
  for (const at::Tensor& one : {x, far}) {
    at::Tensor y = one * 2 + 1;
    y.select(0, 1).mul_(3);
    at::mse_loss(at::mm(y, y.t()), at::ones({2, 2}, y.options())).backward();
  }
  CHECK(far.device() == kDevice);
  CHECK(far.grad().device() == kDevice);
  CHECK(far.grad().cpu().equal(x.grad()));
}

TEST_CASE("an operation on tensors of which one is elsewhere is refused, but for single numbers and indices") {
  const at::Tensor far = at::ones({2, 2}, at::TensorOptions(kDevice));
  const auto refusal = [](const auto& operation) {
    try {
      operation();
    } catch (const c10::Error& error) {
      return std::string(error.what_without_backtrace());
    }
    return std::string();
  };
  CHECK(contains(refusal([&] { far + at::ones({2, 2}); }), "to be on the same device, but found"));
  CHECK(contains(refusal([&] { at::cat({far, at::ones({2, 2})}); }), "in aten::cat"));
  CHECK(contains(refusal([&] { far.index_select(0, at::zeros({1}, at::kLong)); }), "index_select"));
  CHECK(refusal([&] { far + at::ones({}); }) == "");
  CHECK(refusal([&] { far.index({at::zeros({1}, at::kLong)}); }) == "");
}

TEST_CASE("its memory cannot be read from the CPU") {
  const at::Tensor far = at::ones({2}, at::TensorOptions(kDevice));
  const pid_t reader = fork_process([&] {
    std::signal(SIGSEGV, SIG_DFL);  // not that of the tests
    return static_cast<int>(*static_cast<volatile float*>(far.data_ptr()));
  });
  int status = 0;
  REQUIRE(::waitpid(reader, &status, 0) == reader);
  CHECK(contains(describe_status(status), "SIGSEGV"));
}

}  // namespace
}  // namespace lab
