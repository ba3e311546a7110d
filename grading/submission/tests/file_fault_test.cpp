#include "grading/submission/file_fault.h"

#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

TEST_CASE("file faults: sources are text of a bearable size") {
  CHECK(fault_of_source("int x;  // \xC3\xA4\r\n").empty());
  CHECK(fault_of_source(std::string(1U << 20, ' ')).empty());
  CHECK(fault_of_source(std::string((1U << 20) + 1, ' ')) == "is 1 MiB, expected at most 1 MiB");
  CHECK(fault_of_source(std::string(3U << 20, ' ')) == "is 3 MiB, expected at most 1 MiB");
  CHECK(fault_of_source("") == "is empty");
  CHECK(fault_of_source(std::string("\x7F"
                                    "ELF\0",
                                    5)) == "is no text: byte 4 is 0; expected UTF-8");
  CHECK(fault_of_source("\xE4") == "is no text: it is not UTF-8");
}

TEST_CASE("file faults: answers are text where their name says so") {
  CHECK(fault_of_answer("q7.png", std::string("\x89PNG\0", 5)).empty());
  CHECK(fault_of_answer("q7.png", "") == "is empty");
  for (const char* name : {"a.md", "a.txt", "a.log", "a.err"}) {
    CHECK(fault_of_answer(name, "words\n").empty());
    CHECK(fault_of_answer(name, "\xFF") == "is no text: it is not UTF-8");
  }
}

}  // namespace
}  // namespace lab::grading
