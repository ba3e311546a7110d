#include "common/rank/sent_tensors.h"

#include "common/api/errors.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"

namespace lab::testing {
namespace {

CaseInputs inputs_with(const at::Tensor& x, std::uint64_t seed) {
  CaseInputs inputs;
  inputs.tensors = {{"input.x", x}, {"input.nothing", at::Tensor()}};
  inputs.seed = seed;
  return inputs;
}

std::string refused(const std::string& name, at::IntArrayRef sizes, std::uint64_t seed) {
  return get_message<UsageError>([&] { sent_tensor(name, sizes, seed); });
}

TEST_CASE("what was sent is returned, as a copy of its own each time") {
  const at::Tensor x = at::arange(6, at::kFloat).view({2, 3}).requires_grad_();
  const SentTensors sent(inputs_with(x, 7));
  const at::Tensor first = sent_tensor("input.x", {2, 3}, 7);
  CHECK(at::equal(first, x));
  CHECK_FALSE(first.requires_grad());
  first.zero_();
  CHECK(at::equal(sent_tensor("input.x", {2, 3}, 7), x));
}

TEST_CASE("anything else is refused, with what was asked for") {
  const SentTensors sent(inputs_with(at::zeros({2, 3}), 7));
  const std::string other = refused("input.y", {4}, 7);
  CHECK(contains(other, "asked for 'input.y' [4], but this rank was sent no such tensor"));
  CHECK(contains(other, "each has only its own data"));
  CHECK(contains(refused("input.nothing", {4}, 7), "no such tensor"));
  CHECK(contains(refused("input.x", {2, 3}, 8), "but from another seed than the task was given"));
  CHECK(contains(refused("input.x", {4, 3}, 7), "but this rank was sent [2, 3]"));
}

TEST_CASE("only while the inputs live, and the innermost count") {
  {
    const SentTensors outer(inputs_with(at::zeros({1}), 1));
    {
      const SentTensors inner(inputs_with(at::ones({1}), 2));
      CHECK(sent_tensor("input.x", {1}, 2).item<float>() == 1);
    }
    CHECK(sent_tensor("input.x", {1}, 1).item<float>() == 0);
  }
  CHECK(contains(refused("input.x", {1}, 1), "no case is being performed"));
}

}  // namespace
}  // namespace lab::testing
