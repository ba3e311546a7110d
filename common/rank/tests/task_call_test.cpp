#include "common/rank/task_call.h"

#include <limits>

#include "common/testing/get_message.h"
#include "common/testing/test.h"

namespace lab::testing {
namespace {

TEST_CASE("inputs arrive as they were sent: tensors of every kind, numbers and seed to the last bit") {
  CaseInputs sent;
  sent.task = "a0.double";
  sent.name = "Double";
  sent.tensors = {{"input.x", at::arange(6, at::kDouble).view({2, 3}).t()},
                  {"input.mask", at::ones({2}, at::kBool)},
                  {"input.nothing", at::zeros({0, 4}, at::kHalf)},
                  {"weight.bias", at::Tensor()}};
  sent.numbers = {{"eps", 0.1}, {"many", 1e300}, {"size", 7}};
  sent.seed = std::numeric_limits<std::uint64_t>::max();
  const CaseInputs got = inputs_from_bytes(to_bytes(sent));
  CHECK(got.task == sent.task);
  CHECK(got.name == sent.name);
  CHECK((got.numbers == sent.numbers));
  CHECK(got.seed == sent.seed);
  REQUIRE(got.tensors.size() == 4);
  CHECK_FALSE(got.tensor("weight.bias").defined());
  for (const std::string name : {"input.x", "input.mask", "input.nothing"}) {
    CHECK((got.tensor(name).scalar_type() == sent.tensor(name).scalar_type()));
    CHECK(at::equal(got.tensor(name), sent.tensor(name)));
    CHECK(got.tensor(name).is_contiguous());
  }
}

TEST_CASE("bytes that are no inputs are refused") {
  CHECK(contains(get_message<UsageError>([] { inputs_from_bytes(""); }), "a case's inputs"));
  std::string bytes = to_bytes(CaseInputs());
  bytes[bytes.find("numbers")] = 'N';
  CHECK(contains(get_message<UsageError>([&] { inputs_from_bytes(bytes); }), "a case's inputs that cannot be read"));
}

}  // namespace
}  // namespace lab::testing
