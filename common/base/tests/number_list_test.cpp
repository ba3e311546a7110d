#include "common/base/errors.h"
#include "common/base/numbers.h"
#include "common/testing/message_of.h"
#include "common/testing/plain_test.h"

namespace {

using Numbers = std::vector<std::int64_t>;

TEST_CASE("number list: the numbers, in the order given") {
  CHECK(lab::numbers_in("--ranks", "4,1,64", {1, 64}) == Numbers{4, 1, 64});
  CHECK(lab::numbers_in("--ranks", "8", {1, 64}) == Numbers{8});
  CHECK(lab::numbers_in("--sizes", "16,8", {8, 64, 8}) == Numbers{16, 8});
}

TEST_CASE("number list: invalid lists, and numbers that the rule forbids") {
  for (const char* wrong : {"", ",", "1,", ",1", "1,,2", "1, 2", "x", "1.5", "0", "65", "-1"}) {
    INFO(wrong);
    CHECK_THROWS_AS(lab::numbers_in("--ranks", wrong, {1, 64}), lab::UsageError);
  }
  CHECK_THROWS_AS(lab::numbers_in("--sizes", "12", {8, 64, 8}), lab::UsageError);
  const std::string message = lab::testing::message_of([] { lab::numbers_in("--ranks", "0,x", {1, 64}); });
  CHECK(lab::testing::contains(message, "--ranks: expected numbers from 1 to 64"));
  CHECK(lab::testing::contains(message, "0,x"));
}

}  // namespace
