#include "common/course/rubric/content_hash.h"

#include "common/base/checksum.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

TEST_CASE("BLAKE2b with 256 bits") {
  CHECK(content_hash("abc") == "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  CHECK(content_hash("").size() == 64);
}

TEST_CASE("two texts that a checksum takes for one are told apart") {
  const char *const one = "8yn0iYCKYHlIj4-BwPqk", *const other = "GReLUrM4wMqfg9yzV3KQ";
  CHECK(compute_checksum(one) == compute_checksum(other));
  CHECK(content_hash(one) != content_hash(other));
}

}  // namespace
}  // namespace lab
