#include "grading/similarity/similarity_pages.h"

#include <regex>
#include <set>

#include "common/base/text.h"
#include "common/testing/message_of.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"
#include "grading/similarity/similarity_text.h"

namespace {

using namespace lab::grading;
using lab::testing::contains;
using lab::testing::TemporaryFolder;

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
    for (int i = 0; i < 60; ++i) code += "x = at::add(\xc3\xa4y, " + std::to_string(i) + ");\r\n";
    const std::vector<StudentCode> codes = {{&first, {{"student/a.cpp", code}, {"student/b.cpp", ""}}},
                                            {&second, {{"student/a.cpp", code}}}};
    lab = compare_lab("a9_collectives", codes, BaseCode(), SimilarityLimits());
  }
};

std::set<std::string> all_of(const std::string& text, const char* pattern) {
  const std::regex expression(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) found.insert((*at)[1]);
  return found;
}

}  // namespace

TEST_CASE("similarity pages: what students wrote is shown as it is, and never as HTML") {
  const Sample sample;
  REQUIRE(sample.lab.pairs.size() == 1);
  const std::string page = pair_page(sample.lab, sample.lab.pairs[0]);
  CHECK_FALSE(contains(page, "<script>alert"));
  CHECK_FALSE(contains(page, "<img"));
  CHECK(contains(page, "&lt;script&gt;alert(3)"));
  CHECK(contains(page, "two {{lab}}"));
  CHECK(contains(page, "{{title}}"));
  CHECK_FALSE(contains(page, "\x1b"));
  CHECK_FALSE(contains(page, "\xe2\x80\xae"));
  CHECK(lab::is_utf8(page));
  CHECK_FALSE(contains(page, "http://"));
  CHECK_FALSE(contains(page, "https://"));
}

TEST_CASE("similarity pages: a run does not end within a character") {
  Sample sample;
  std::string code;
  for (int i = 0; i < 60; ++i) code += "x = f(y, " + std::to_string(i) + ");\n";
  sample.lab = compare_lab("a9_collectives",
                           {{&sample.first, {{"student/a.cpp", code + "\xc3\xa4"}}},
                            {&sample.second, {{"student/a.cpp", code + "\xc3\xb6"}}}},
                           BaseCode(), SimilarityLimits());
  const std::string page = pair_page(sample.lab, sample.lab.pairs.at(0));
  CHECK(contains(page, "\xc3\xa4"));
  CHECK(contains(page, "\xc3\xb6"));
}

TEST_CASE("similarity pages: every link leads somewhere, and every run to the other side and back") {
  const Sample sample;
  const std::string page = pair_page(sample.lab, sample.lab.pairs[0]);
  const std::set<std::string> ids = all_of(page, "id=\"([ab][0-9]+)\"");
  CHECK(ids == all_of(page, "href=\"#([ab][0-9]+)\""));
  CHECK(ids.count("a1") == 1);
  CHECK(ids.count("b1") == 1);
  for (const std::string& sentence : what_a_match_does_not_show()) CHECK(contains(page, sentence));
}

TEST_CASE("similarity pages: an index, and a page for each pair to look at; none of an earlier comparison") {
  const Sample sample;
  const TemporaryFolder out;
  const std::string index = write_similarity_pages(out.file("x"), {sample.lab}, SimilarityLimits(), {"<b>: broken"});
  CHECK(contains(lab::testing::read_bytes(index), "href=\"pair_1.html\""));
  CHECK(contains(lab::testing::read_bytes(index), "&lt;b&gt;: broken"));
  CHECK_FALSE(contains(lab::testing::read_bytes(index), "<script>alert"));
  CHECK_FALSE(lab::testing::read_bytes(out.file("x/similarity/pair_1.html")).empty());
  SimilarityLimits strict;
  strict.fingerprints = 1000000;
  write_similarity_pages(out.file("x"), {sample.lab}, strict, {});
  CHECK(lab::testing::read_bytes(out.file("x/similarity/pair_1.html")).empty());
  CHECK_FALSE(contains(lab::testing::read_bytes(index), "pair_1.html"));
  CHECK(contains(lab::testing::read_bytes(index), "below the limit"));
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
