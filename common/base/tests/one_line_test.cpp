#include "common/base/text.h"
#include "common/testing/plain_test.h"

TEST_CASE("one line: control characters become single spaces, other spaces stay") {
  CHECK(lab::one_line("") == "");
  CHECK(lab::one_line("a") == "a");
  CHECK(lab::one_line("a  b") == "a  b");
  CHECK(lab::one_line("a\nb") == "a b");
  CHECK(lab::one_line("a\r\n   b\t\tc\n") == "a b c");
  CHECK(lab::one_line("  a  ") == "a");
  CHECK(lab::one_line("\n\n") == "");
  CHECK(lab::one_line(std::string("a\0b", 3)) == "a b");
  CHECK(lab::one_line("\x1b[2Jclear") == "[2Jclear");
  CHECK(lab::one_line("H\xc3\xbclle") == "H\xc3\xbclle");
}
