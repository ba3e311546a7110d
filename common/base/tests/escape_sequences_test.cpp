#include "common/base/text.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

TEST_CASE("colours, links and titles are left out, and all else stays") {
  CHECK(without_escapes("\x1B[01;31m\x1B[Kerror\x1B[m\x1B[K: \x1B]8;;file:///x\x1B\\x\x1B]8;;\a\x1B(B.") ==
        "error: x.");
  CHECK(without_escapes("").empty());
  CHECK(without_escapes("a\nb\t\xC3\xA9") == "a\nb\t\xC3\xA9");
}

TEST_CASE("a sequence that is cut off stays") {
  for (const char* text : {"\x1B", "a\x1B[", "a\x1B[31", "\x1B]0;title\nnext"}) CHECK(without_escapes(text) == text);
}

}  // namespace
}  // namespace lab
