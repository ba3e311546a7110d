#include "common/page/result_page.h"

#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

namespace lab::page {
namespace {

using testing::contains;

ResultPage sample() {
  ShownCheck check;
  check.name = "BroadcastFromLast";
  check.label = "wrong";
  check.message = "rank 0, result 'out', element [0, 0]: expected 12, got 3";
  check.likely = "src_rank is not used";
  check.costs = {{"model time", "21.8 ms", "8.89 ms", true}};
  ShownItem item;
  item.id = "a9.broadcast";
  item.title = "Broadcast";
  item.label = "partly";
  item.marks = "3";
  item.out_of = "6";
  item.findings = {"student/broadcast/flat.cpp does not compile:\n  12 | int x = <y>;\n     |         ^"};
  item.checks = {check};
  item.right_checks = {"BroadcastLarge", "BroadcastOneRank"};
  item.hint = "./lab hint a9.broadcast";
  ResultPage page;
  page.headline = "A9: 3 of 6";
  page.title = "Collectives";
  page.share = 0.5;
  page.has_marks = true;
  page.items = {item};
  page.notes = {"handed in by Ada"};
  page.facts = {{"seed", "--seed 42"}};
  return page;
}

TEST_CASE("a page shows the first difference, its cause, what was counted, and a compiler's message as it is") {
  const std::string page = to_html(sample());
  for (const char* part :
       {"A9: 3 of 6", "Collectives", "width: 50%", "BroadcastFromLast", "expected 12, got 3", "src_rank is not used",
        "21.8 ms", "8.89 ms", "class=\"exceeded\"", "student/broadcast/flat.cpp does not compile:",
        "<pre tabindex=\"0\">  12 | int x = &lt;y&gt;;\n     |         ^</pre>", "BroadcastLarge, BroadcastOneRank",
        "./lab hint a9.broadcast", "handed in by Ada", "--seed 42"}) {
    INFO(part);
    CHECK(contains(page, part));
  }
}

TEST_CASE("each check's own timeline is on the page; one that cannot be read, or asks for too much, is left out") {
  ResultPage page = sample();
  CHECK_FALSE(contains(to_html(page), "<figure"));
  page.items[0].checks.resize(3, page.items[0].checks[0]);
  const auto named = [](const std::string& name) {
    return R"({"title": ")" + name +
           R"(</figure><script>'{{id}}<!--drawing 2-->", "ranks": 1, "legend": [], "clocks": []})";
  };
  page.items[0].checks[0].timeline = named("first");
  page.items[0].checks[2].timeline = named("last");
  const std::string escaped = "&lt;/figure&gt;&lt;script&gt;'{{id}}&lt;!--drawing 2--&gt;</text>";
  for (const char* bad : {"[]", "{", R"({"ranks": 2})", R"({"title": "", "ranks": 1e9, "legend": [], "clocks": []})"}) {
    page.items[0].checks[1].timeline = bad;
    const std::string html = to_html(page);
    const std::size_t first = html.find(">first" + escaped), last = html.find(">last" + escaped);
    REQUIRE(first != std::string::npos);
    REQUIRE(last != std::string::npos);
    CHECK(first < last);
    CHECK_FALSE(contains(html, "<!--drawing"));
    CHECK(html.find("<script>'") == std::string::npos);
  }
}

TEST_CASE("what is right is closed, what is wrong is open") {
  ResultPage page = sample();
  CHECK(contains(to_html(page), "<details class=\"card\" id=\"item1\" open>"));
  page.items[0].standing = Standing::kRight;
  CHECK(contains(to_html(page), "<details class=\"card\" id=\"item1\">"));
}

TEST_CASE("whatever a text holds, it stays text: markup, control characters, broken UTF-8, a million bytes") {
  const std::string hostile = "</pre></script><img src=x onerror=alert(1)>\x1b[31m\x01\xff\xe2\x80\xae{{id}}\"'";
  ResultPage page = sample();
  ShownItem& item = page.items[0];
  for (std::string* text : {&page.headline, &page.title, &page.notes[0], &page.facts[0].value, &item.id, &item.title,
                            &item.findings[0], &item.checks[0].name, &item.checks[0].message, &item.checks[0].likely})
    *text = hostile + "\n" + hostile;
  item.right_checks = {hostile};
  item.checks[0].lines = {hostile};
  const std::string html = to_html(page);
  for (const char* part : {"<img", "</pre></script>", "\x1b", "\x01", "\xff", "\xe2\x80\xae"}) {
    INFO(part);
    CHECK_FALSE(contains(html, part));
  }
  CHECK(contains(html, "{{id}}"));
  page.notes.assign(100000, std::string(1000000, 'x').substr(0, 20000));
  CHECK(to_html(page).size() < 1000000);
}

}  // namespace
}  // namespace lab::page
