#include "common/base/text.h"

#include "common/testing/plain_test.h"

namespace lab {
namespace {

TEST_CASE("one line: control characters become single spaces, other spaces stay") {
  CHECK(one_line("") == "");
  CHECK(one_line("a") == "a");
  CHECK(one_line("a  b") == "a  b");
  CHECK(one_line("a\nb") == "a b");
  CHECK(one_line("a\r\n   b\t\tc\n") == "a b c");
  CHECK(one_line("  a  ") == "a");
  CHECK(one_line("\n\n") == "");
  CHECK(one_line(std::string("a\0b", 3)) == "a b");
  CHECK(one_line("\x1b[2Jclear") == "[2Jclear");
  CHECK(one_line("H\xc3\xbclle") == "H\xc3\xbclle");
}

TEST_CASE("edit distance: insertions, deletions, replacements and swaps of neighbours") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "abc") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("nproc", "nporc") == 1);
}

TEST_CASE("nearest: the closest candidate, or none when all are far") {
  const std::vector<std::string> names = {"--nproc", "--world", "--seed", "--save"};
  CHECK(nearest("--nprocs", names).value_or("") == "--nproc");
  CHECK(nearest("--sede", names).value_or("") == "--seed");
  CHECK(nearest("--wrold", names).value_or("") == "--world");
  CHECK_FALSE(nearest("--frobnicate", names).has_value());
  CHECK_FALSE(nearest("x", {}).has_value());
}

TEST_CASE("a log's text: nothing in it is a command to a CI service") {
  CHECK(without_commands("") == "");
  CHECK(without_commands("std::cout, a # b, ## c, x[1]") == "std::cout, a # b, ## c, x[1]");
  CHECK(without_commands("::error::x") == ": :error::x");
  CHECK(without_commands("a\n \t::error file=x::y\r::warning::z\n") == "a\n \t: :error file=x::y\r: :warning::z\n");
  CHECK(without_commands("\xC2\xA0\xE2\x80\xA8::set-env::x") == "\xC2\xA0\xE2\x80\xA8: :set-env::x");
  CHECK(without_commands(":::add-mask::x") == ": ::add-mask::x");
  CHECK(without_commands("a ##[group]b ###[error] ##vso[task.x]") == "a # #[group]b ## #[error] # #vso[task.x]");
  CHECK(without_commands("::") == ": :");
  const std::string long_line(1'000'000, '#');
  CHECK(without_commands(long_line).size() == long_line.size());
}

const std::string kReplaced = "\xEF\xBF\xBD";

TEST_CASE("UTF-8: valid and invalid text") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("plain\n"));
  CHECK(is_utf8("\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x99\x82"));  // two, three and four bytes
  CHECK_FALSE(is_utf8("\xE4"));                              // Latin-1
  CHECK_FALSE(is_utf8("\xC3"));                              // cut off
  CHECK_FALSE(is_utf8("\x80"));                              // a byte that only follows
  CHECK_FALSE(is_utf8("\xC0\xAF"));                          // an overlong '/'
  CHECK_FALSE(is_utf8("\xE0\x80\xAF"));
  CHECK_FALSE(is_utf8("\xF0\x80\x80\xAF"));
  CHECK_FALSE(is_utf8("\xED\xA0\x80"));      // a surrogate
  CHECK_FALSE(is_utf8("\xF4\x90\x80\x80"));  // beyond U+10FFFF
  CHECK_FALSE(is_utf8("\xF5\x80\x80\x80"));
}

TEST_CASE("UTF-8: a character's length") {
  const std::string text = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x99\x82\xFF";
  CHECK(utf8_length_at(text, 0) == 1);
  CHECK(utf8_length_at(text, 1) == 2);
  CHECK(utf8_length_at(text, 2) == 0);
  CHECK(utf8_length_at(text, 3) == 3);
  CHECK(utf8_length_at(text, 6) == 4);
  CHECK(utf8_length_at(text, 10) == 0);
}

TEST_CASE("safe text: harmful characters are replaced, the rest stays") {
  CHECK(safe_text("a\tb\n\xC3\xA4", 100) == "a\tb\n\xC3\xA4");
  CHECK(safe_text("\x1B[31mred", 100) == kReplaced + "[31mred");
  CHECK(safe_text(std::string("a\0b\r\x7F", 5), 100) == "a" + kReplaced + "b" + kReplaced + kReplaced);
  CHECK(safe_text("\xFF\xFEz", 100) == kReplaced + kReplaced + "z");
  CHECK(safe_text("a\xE2\x80\xAE"
                  "b",
                  100) == "a" + kReplaced + "b");  // right to left from here
  CHECK(safe_text("\xC2\x9B", 100) == kReplaced);  // an escape in one character
}

TEST_CASE("safe text: cut between characters, and it says so") {
  CHECK(safe_text("12345", 5) == "12345");
  CHECK(safe_text("123456", 5) == "12345 ... (1 B more)");
  CHECK(safe_text("1234\xC3\xA4", 5) == "1234 ... (2 B more)");
  CHECK(is_utf8(safe_text("\xFF\xFF\xFF", 7)));
}

}  // namespace
}  // namespace lab

TEST_CASE("split: one part more than separators") {
  using Parts = std::vector<std::string_view>;
  CHECK(lab::split("a,,b", ',') == Parts{"a", "", "b"});
  CHECK(lab::split("a,", ',') == Parts{"a", ""});
  CHECK(lab::split("", ',') == Parts{""});
}

TEST_CASE("lines: each with its line break") {
  using Lines = std::vector<std::string>;
  CHECK(lab::list_lines("a\n\nb") == Lines{"a\n", "\n", "b"});
  CHECK(lab::list_lines("a\n") == Lines{"a\n"});
  CHECK(lab::list_lines("").empty());
}
