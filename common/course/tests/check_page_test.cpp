#include "common/course/check_page.h"

#include "common/api/errors.h"
#include "common/course/tests/sample_tree.h"
#include "common/testing/plain_test.h"

namespace lab::testing {
namespace {

constexpr char kRight[] = R"json({"task": "a0.pipe", "passed": true, "skipped": false, "todo": false,
 "message": "1 of 1 checks right on 4 ranks", "right_on": [1, 4, 3],
 "checks": [{"name": "PipeOne", "passed": true, "skipped": false}]})json";
constexpr char kWrong[] = R"json({"task": "a0.valve", "passed": false, "skipped": false, "todo": false,
 "message": "1 of 2 checks right on 4 ranks", "heading": "on 3 ranks:\n",
 "checks": [{"name": "ValveOpen", "passed": true, "skipped": false},
  {"name": "ValveShut", "passed": false, "skipped": false, "label": "costly", "likely": "everything is gathered",
   "message": "rank 1: sends <too> much", "rank_lines": ["rank 0 waits"], "text": "...",
   "most_of_a_rank": {"bytes_sent": 900, "flops": 3}, "at_most": {"bytes_sent": 100},
   "timeline": {"ranks": 4, "clocks": []}}]})json";
constexpr char kTodo[] = R"json({"task": "a0.tap", "passed": false, "skipped": false, "todo": true,
 "message": "not implemented: stops at TODO(a0.tap)",
               "checks" : [ {"name" : "Tap", "passed" : false, "skipped" : false} ]
})json";

page::ResultPage make_page(const std::string& json, const std::string& problem = "", const std::string& build = "") {
  const SampleTree tree;
  const TemporaryFolder folder;
  write_bytes(folder.file("001-a0_pipes.json"), json);
  if (!problem.empty()) write_bytes(folder.file("002-a0_pipes.problem"), problem);
  if (!build.empty()) write_bytes(folder.file("002-a0_pipes.build"), build);
  return check_page(CombinedResults(folder.file("")), CourseTree::load(tree.root()));
}

TEST_CASE("each task stands as the check left it, under its title, with what was counted and a hint's command") {
  const page::ResultPage page = make_page(std::string("[") + kRight + "," + kWrong + "," + kTodo + "]", "not built\n");
  CHECK(page.headline == "1 of 3 tasks right");
  REQUIRE(page.items.size() == 3);
  CHECK(page.items[0].title == "A pipe");
  CHECK(page.items[0].standing == page::Standing::kRight);
  CHECK(page.items[0].short_text == "right on 1 4 3 ranks");
  CHECK(page.items[0].hint.empty());
  const page::ShownItem& wrong = page.items[1];
  CHECK(wrong.label == "wrong");
  CHECK(wrong.findings == std::vector<std::string>{"on 3 ranks:"});
  CHECK(wrong.right_checks == std::vector<std::string>{"ValveOpen"});
  CHECK(wrong.hint == "./lab hint a0.valve");
  REQUIRE(wrong.checks.size() == 1);
  CHECK(wrong.checks[0].label == "costly");
  CHECK(wrong.checks[0].likely == "everything is gathered");
  CHECK(wrong.checks[0].lines == std::vector<std::string>{"rank 0 waits"});
  REQUIRE(wrong.checks[0].costs.size() == 1);
  CHECK(wrong.checks[0].costs[0].exceeded);
  CHECK(wrong.checks[0].timeline == R"({"clocks":[],"ranks":4})");
  CHECK(page.items[2].standing == page::Standing::kOpen);
  CHECK(page.items[2].label == "not implemented");
  CHECK(page.items[2].checks.empty());
  CHECK(page.notes == std::vector<std::string>{"a0_pipes: not built"});
  CHECK(page::to_html(page).find("sends &lt;too&gt; much") != std::string::npos);
}

TEST_CASE("a lab that was not built is shown first, with the compiler's messages and their source lines") {
  const page::ResultPage page = make_page(std::string("[") + kRight + "]", "not built\n",
                                          "a0_pipes/student/tap.cpp:3:5: error: <y>\n    3 | y;\n");
  CHECK(page.headline == "1 of 1 task right, 1 lab not built");
  CHECK(page.share == 1);
  CHECK(page.notes.empty());
  REQUIRE(page.items.size() == 2);
  CHECK(page.items[0].title == "Pipes");
  CHECK(page.items[0].label == "not built");
  CHECK(page.items[0].findings == std::vector<std::string>{"a0_pipes/student/tap.cpp:3:5: error: <y>\n    3 | y;"});
  const std::string html = page::to_html(page);
  CHECK(html.find("<pre tabindex=\"0\">    3 | y;</pre>") != std::string::npos);
  CHECK(html.find("<y>") == std::string::npos);
  const page::ResultPage other = make_page("[]", "not built\n", "cmake: what is this?\n");
  CHECK(other.headline == "1 lab not built");
  CHECK(other.items.at(0).findings == std::vector<std::string>{"not built"});
}

TEST_CASE("without results there is a page that says so; what is not a result is refused") {
  CHECK(make_page("[]", "not built\n").headline == "0 of 0 tasks right");
  CHECK_THROWS_AS(make_page(R"([{"task": "a0.pipe"}])"), UsageError);
  CHECK_THROWS_AS(make_page(R"([1])"), UsageError);
}

}  // namespace
}  // namespace lab::testing
