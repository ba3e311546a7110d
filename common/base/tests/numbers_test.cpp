#include "common/base/numbers.h"

#include "common/api/errors.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

using Numbers = std::vector<std::int64_t>;

TEST_CASE("number list: the numbers, in the order given") {
  CHECK(numbers_in("--ranks", "4,1,64", {1, 64}) == Numbers{4, 1, 64});
  CHECK(numbers_in("--ranks", "8", {1, 64}) == Numbers{8});
  CHECK(numbers_in("--sizes", "16,8", {8, 64, 8}) == Numbers{16, 8});
}

TEST_CASE("number list: invalid lists, and numbers that the rule forbids") {
  for (const char* wrong : {"", ",", "1,", ",1", "1,,2", "1, 2", "x", "1.5", "0", "65", "-1"}) {
    INFO(wrong);
    CHECK_THROWS_AS(numbers_in("--ranks", wrong, {1, 64}), UsageError);
  }
  CHECK_THROWS_AS(numbers_in("--sizes", "12", {8, 64, 8}), UsageError);
  const std::string message = testing::get_message([] { numbers_in("--ranks", "0,x", {1, 64}); });
  CHECK(testing::contains(message, "--ranks: expected numbers from 1 to 64"));
  CHECK(testing::contains(message, "0,x"));
}

// Human-readable sizes, and back.

TEST_CASE("bytes are described in the largest unit that they fill") {
  CHECK(describe_bytes(0) == "0 B");
  CHECK(describe_bytes(1023) == "1023 B");
  CHECK(describe_bytes(4096) == "4 KiB");
  CHECK(describe_bytes(1536 * 1024) == "1.5 MiB");
  CHECK(describe_bytes(std::uint64_t{64} << 20) == "64 MiB");
  CHECK(describe_bytes(~std::uint64_t{0}) == "16 EiB");
}

}  // namespace
}  // namespace lab
