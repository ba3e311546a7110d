#include "common/base/utf8_text.h"

#include "common/testing/plain_test.h"

namespace lab {
namespace {

/// The same letters in UTF-16, for code points below 0x100.
std::string utf16(const std::string& latin_1, bool little) {
  std::string bytes;
  for (const char c : latin_1) bytes += little ? std::string{c, '\0'} : std::string{'\0', c};
  return bytes;
}

TEST_CASE("text that is UTF-8 stays as it is") {
  for (const char* text : {"", "int x;\r\n", "// na\xC3\xAFve\n", "\f\x1B[31mred"}) {
    const auto same = utf8_text(text);
    REQUIRE(same);
    CHECK(same->text == text);
    CHECK(same->was.empty());
  }
}

TEST_CASE("text in another encoding is converted, and which one it was is said") {
  const auto check = [](const std::string& bytes, const std::string& text, const std::string& was) {
    const auto converted = utf8_text(bytes);
    REQUIRE(converted);
    CHECK(converted->text == text);
    CHECK(converted->was == was);
  };
  check("\xEF\xBB\xBFint x;\n", "int x;\n", "UTF-8 with a byte order mark");
  check("// na\xEFve\n", "// na\xC3\xAFve\n", "Latin-1");
  check("\x93quoted\x94 \x80 5", "\xE2\x80\x9Cquoted\xE2\x80\x9D \xE2\x82\xAC 5", "Latin-1");
  check("\x81", "\xEF\xBF\xBD", "Latin-1");
  for (const bool little : {true, false}) {
    check((little ? "\xFF\xFE" : "\xFE\xFF") + utf16("// na\xEFve\n", little), "// na\xC3\xAFve\n", "UTF-16");
    check(utf16("int x = 1;\n", little), "int x = 1;\n", "UTF-16");
  }
  check(std::string("\xFF\xFE\x3D\xD8\x42\xDE", 6), "\xF0\x9F\x99\x82", "UTF-16");  // a surrogate pair
  check(std::string("\xFE\xFF\x20\xAC", 4), "\xE2\x82\xAC", "UTF-16");
}

TEST_CASE("what is not text is not converted") {
  CHECK_FALSE(
      utf8_text(std::string("\x7F"
                            "ELF\0\1\2",
                            7)));
  CHECK_FALSE(utf8_text(std::string("int x;\0", 7)));
  CHECK_FALSE(utf8_text(std::string("caf\0", 4)));
  CHECK_FALSE(
      utf8_text("\xFF\xFE"
                "a"));                                                 // half a unit
  CHECK_FALSE(utf8_text(std::string("\xFF\xFE\x3D\xD8", 4)));          // half a surrogate pair
  CHECK_FALSE(utf8_text(std::string("\xFF\xFE\x42\xDE\x41\x00", 6)));  // the other half
}

}  // namespace
}  // namespace lab
