#include "common/testing/plain_test.h"
#include "grading/marks/writers.h"

namespace lab::grading {
namespace {

TEST_CASE("markdown: words that mean nothing to it stay readable") {
  for (const char* text : {"on 4 ranks: rank 2, result 'out', element [3, 0]: expected 10, got 2.5", "a9.all_to_all",
                           "3 - 2 > 0", "costs & more", "v1.2.", "a, b (c)"})
    CHECK(markdown_text(text) == text);
}

TEST_CASE("markdown: words that mean something to it do not get through") {
  CHECK(markdown_text("**full marks**") == "\\*\\*full marks\\*\\*");
  CHECK(markdown_text("<script>") == "\\<script>");
  CHECK(markdown_text("a | b") == "a \\| b");
  CHECK(markdown_text("`code`") == "\\`code\\`");
  CHECK(markdown_text("[click](http://x)") == "\\[click\\](http://x)");
  CHECK(markdown_text("[x]: http://x") == "\\[x]: http://x");
  CHECK(markdown_text("_x_ __init__") == "\\_x\\_ \\_\\_init\\_\\_");
  CHECK(markdown_text("# A9: 100 of 100") == "\\# A9: 100 of 100");
  CHECK(markdown_text("- item") == "\\- item");
  CHECK(markdown_text("12. item") == "12\\. item");
  CHECK(markdown_text("&lt; &#60;") == "\\&lt; \\&#60;");
  CHECK(markdown_text("a\\*b") == "a\\\\\\*b");
  CHECK(markdown_text("one\n# two\n") == "one # two");
}

TEST_CASE("markdown: a block's fence is longer than any in it") {
  CHECK(markdown_block("x.cpp:1: error\n") == "```text\nx.cpp:1: error\n```\n");
  CHECK(markdown_block("no line end") == "```text\nno line end\n```\n");
  CHECK(markdown_block("```\n# out of it\n````") == "`````text\n```\n# out of it\n````\n`````\n");
}

}  // namespace
}  // namespace lab::grading
