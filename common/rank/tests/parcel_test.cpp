#include "common/rank/parcel.h"

#include <limits>

#include "common/testing/message_of.h"
#include "common/testing/test.h"

namespace lab::testing {
namespace {

TEST_CASE("a parcel arrives as it was sent: tensors of every kind, numbers and seed to the last bit") {
  Parcel sent;
  sent.task = "a0.double";
  sent.name = "Double";
  sent.inputs.tensors = {{"input.x", at::arange(6, at::kDouble).view({2, 3}).t()},
                         {"input.mask", at::ones({2}, at::kBool)},
                         {"input.nothing", at::zeros({0, 4}, at::kHalf)},
                         {"weight.bias", at::Tensor()}};
  sent.inputs.numbers = {{"eps", 0.1}, {"many", 1e300}, {"size", 7}};
  sent.inputs.seed = std::numeric_limits<std::uint64_t>::max();
  const Parcel got = parcel_from_bytes(bytes_of_parcel(sent));
  CHECK(got.task == sent.task);
  CHECK(got.name == sent.name);
  CHECK((got.inputs.numbers == sent.inputs.numbers));
  CHECK(got.inputs.seed == sent.inputs.seed);
  REQUIRE(got.inputs.tensors.size() == 4);
  CHECK_FALSE(got.inputs.tensor("weight.bias").defined());
  for (const std::string name : {"input.x", "input.mask", "input.nothing"}) {
    CHECK((got.inputs.tensor(name).scalar_type() == sent.inputs.tensor(name).scalar_type()));
    CHECK(at::equal(got.inputs.tensor(name), sent.inputs.tensor(name)));
    CHECK(got.inputs.tensor(name).is_contiguous());
  }
}

TEST_CASE("bytes that are no parcel are refused") {
  CHECK(contains(message_of<UsageError>([] { parcel_from_bytes(""); }), "a parcel"));
  std::string bytes = bytes_of_parcel({"a0.double", "Double", {}});
  bytes[bytes.find("numbers")] = 'N';
  CHECK(contains(message_of<UsageError>([&] { parcel_from_bytes(bytes); }), "a parcel that cannot be read"));
}

}  // namespace
}  // namespace lab::testing
