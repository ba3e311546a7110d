#include "common/testing/plain_test.h"
#include "grading/submission/submission.h"

namespace lab::grading {
namespace {

TEST_CASE("taken files: sources are text of a bearable size") {
  CHECK(take_source("int x;  // \xC3\xA4\r\n").bytes == "int x;  // \xC3\xA4\r\n");
  CHECK(take_source(std::string(1U << 20, ' ')).fault.empty());
  CHECK(take_source(std::string((1U << 20) + 1, ' ')).fault == "is 1 MiB, expected at most 1 MiB");
  CHECK(take_source(std::string(3U << 20, ' ')).fault == "is 3 MiB, expected at most 1 MiB");
  CHECK(take_source("").fault == "is empty");
  CHECK(take_source(std::string("\x7F"
                                "ELF\0",
                                5))
            .fault == "is not text; expected UTF-8");
}

TEST_CASE("taken files: text in another encoding is converted with a note, and not refused") {
  const TakenFile latin = take_source("// na\xEFve\nint x;\n");
  CHECK(latin.bytes == "// na\xC3\xAFve\nint x;\n");
  CHECK(latin.fault.empty());
  CHECK(latin.note == "is Latin-1; it was converted to UTF-8");
  CHECK(take_source("\xEF\xBB\xBFint x;\n").bytes == "int x;\n");
  const TakenFile utf16 = take_answer("a.log", std::string("\xFF\xFE"
                                                           "o\0k\0",
                                                           6));
  CHECK(utf16.bytes == "ok");
  CHECK(utf16.note == "is UTF-16; it was converted to UTF-8");
}

TEST_CASE("taken files: answers are text where their name says so") {
  const std::string png("\x89PNG\0", 5);
  CHECK(take_answer("q7.png", png).bytes == png);
  CHECK(take_answer("q7.png", png).note.empty());
  CHECK(take_answer("q7.png", "").fault == "is empty");
  CHECK(take_answer("a4.log", "").fault == "is empty");
  CHECK(take_answer("a4.err", "").fault.empty());  // of a successful run
  for (const char* name : {"a.md", "a.txt", "a.log", "a.err"}) {
    CHECK(take_answer(name, "words\n").bytes == "words\n");
    CHECK(take_answer(name, png).fault == "is not text; expected UTF-8");
  }
}

}  // namespace
}  // namespace lab::grading
