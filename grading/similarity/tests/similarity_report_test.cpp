#include "grading/similarity/similarity_report.h"

#include "common/base/text.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

namespace {

using namespace lab::grading;
using lab::testing::contains;

/// Two students with the same hostile code, and hostile names.
struct Sample {
  PlannedHandIn first, second;
  LabSimilarity lab;

  Sample() {
    first.who = "one";
    first.identity = {"<script>alert(1)</script>", "a\"b\n\x1b[31m"};
    first.hand_in.shown = "<img src=x onerror=alert(2)>.zip";
    second.who = "two {{lab}}";
    std::string code = "auto s = \"</pre><script>alert(3)</script>{{title}}\"; // \xe2\x80\xae ends \xc3\xa4\n";
    for (int i = 0; i < 60; ++i) code += "x = at::add(y, " + std::to_string(i) + ");\r\n";
    const std::vector<StudentCode> codes = {{&first, {{"student/a.cpp", code}, {"student/b.cpp", ""}}},
                                            {&second, {{"student/a.cpp", code}}}};
    lab = compare_lab("a9_collectives", codes, {}, Sandbox::detect());
  }
};

}  // namespace

TEST_CASE("similarity page: what students wrote is shown as it is, and never as HTML") {
  const Sample sample;
  REQUIRE(sample.lab.pairs.size() == 1);
  const std::string page = similarity_page({sample.lab}, SimilarityLimits(), {"<b>: broken"});
  CHECK_FALSE(contains(page, "<script>alert"));
  CHECK_FALSE(contains(page, "<img"));
  CHECK(contains(page, "&lt;script&gt;alert(3)"));
  CHECK(contains(page, "&lt;b&gt;: broken"));
  CHECK(contains(page, "two {{lab}}"));
  CHECK(contains(page, "{{title}}"));
  CHECK_FALSE(contains(page, "\x1b"));
  CHECK_FALSE(contains(page, "\xe2\x80\xae"));
  CHECK(lab::is_utf8(page));
  CHECK_FALSE(contains(page, "http://"));
  CHECK_FALSE(contains(page, "https://"));
  CHECK(contains(page, "href=\"#a9_collectives_1\""));
  CHECK(contains(page, "id=\"a9_collectives_1\""));
  for (const std::string& sentence : what_a_match_does_not_show()) CHECK(contains(page, sentence));
}

TEST_CASE("similar hand-ins: other line ends, and a comment that does not end, hide nothing") {
  PlannedHandIn first, second;
  first.who = "one";
  second.who = "two";
  std::string code = "// sums\n", other = "// totals\r";
  for (int i = 0; i < 60; ++i) {
    code += "x = at::add(y, " + std::to_string(i) + ");\n";
    other += "x = at::add(y, " + std::to_string(i) + ");\r";
  }
  const LabSimilarity lab =
      compare_lab("a9_collectives", {{&first, {{"a.cpp", code}}}, {&second, {{"a.cpp", "/*"}, {"b.cpp", other}}}}, {},
                  Sandbox::detect());
  REQUIRE(lab.pairs.size() == 1);
  CHECK(lab.pairs[0].share_of_first == 1);
  CHECK(lab.pairs[0].share_of_second == 1);
}

TEST_CASE("similarity page: a pair below the limit has no code") {
  const Sample sample;
  SimilarityLimits strict;
  strict.tokens = 1000000;
  const std::string page = similarity_page({sample.lab}, strict, {});
  CHECK_FALSE(contains(page, "a9_collectives_1"));
  CHECK(contains(page, "below the limit"));
}

TEST_CASE("similarity text: a line for each lab and pair, with nothing in it that moves a terminal's cursor") {
  const Sample sample;
  const std::string text = similarity_text({sample.lab}, SimilarityLimits(), 5);
  CHECK(contains(text, "a9_collectives: 2 hand-ins, 1 pair compared, 1 to look at\n* 100 % of "));
  CHECK(contains(text, "student/a.cpp:1-61 and student/a.cpp:1-61\n"));
  CHECK_FALSE(contains(text, "\x1b"));
  CHECK(similarity_text({sample.lab}, SimilarityLimits(), 0) ==
        "a9_collectives: 2 hand-ins, 1 pair compared, 1 to look at\n");
}
