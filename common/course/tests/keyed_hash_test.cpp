#include <string>

#include "common/course/rubric/content_hash.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

TEST_CASE("SipHash-2-4: the values of its reference") {
  const std::array<std::uint64_t, 2> key = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::string text;
  const auto next = [&] { text += static_cast<char>(text.size()); };
  CHECK(keyed_hash(key, text) == 0x726fdb47dd0e0e31);
  next();
  CHECK(keyed_hash(key, text) == 0x74f839c593dc67fd);
  while (text.size() < 15) next();
  CHECK(keyed_hash(key, text) == 0xa129ca6149be45e5);
  while (text.size() < 63) next();
  CHECK(keyed_hash(key, text) == 0x958a324ceb064572);
}

TEST_CASE("another key gives another hash") {
  CHECK(keyed_hash({1, 0}, "s1") != keyed_hash({0, 1}, "s1"));
  CHECK(keyed_hash({1, 0}, "s1") != keyed_hash({1, 0}, std::string_view("s1\0", 3)));
}

}  // namespace
}  // namespace lab
