
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/base/files.h"
#include "common/page/html_page.h"
#include "common/testing/plain_test.h"

namespace lab::page {
namespace {

TEST_CASE("every value is escaped, in text and in attributes, wherever it comes from") {
  const nlohmann::json values = {{"a", "<script>alert('1')</script> & \"2\""}, {"list", {"<b>", "</b>"}}};
  CHECK(filled_in("<p title=\"{{a}}\">{{a}}</p>", values) ==
        "<p title=\"&lt;script&gt;alert(&apos;1&apos;)&lt;/script&gt; &amp; &quot;2&quot;\">"
        "&lt;script&gt;alert(&apos;1&apos;)&lt;/script&gt; &amp; &quot;2&quot;</p>");
  CHECK(filled_in("{{#list}}[{{.}}]{{/list}}", values) == "[&lt;b&gt;][&lt;/b&gt;]");
}

TEST_CASE("a value is never read as a template, nor as a part of that name") {
  CHECK(filled_in("{{a}} {{b}}", {{"a", "{{b}}"}, {"b", "{{{a}}}"}}) == "{{b}} {{{a}}}");
  CHECK_THROWS_AS(filled_in("{{> style}}", {{"style", "{{{x}}}"}}, {{"style", "p {}"}}), std::logic_error);
  CHECK_THROWS_AS(filled_in("{{#one}}{{> s.css}}{{/one}}", {{"one", {{"s.css", "stolen"}}}}, {{"s.css", "p {}"}}),
                  std::logic_error);
}

TEST_CASE("control characters, bidirectional marks and what is not UTF-8 get into no page") {
  CHECK(filled_in("{{a}}", {{"a", "1\x1b[31m2\xe2\x80\xae\xff"}}) == "1\xef\xbf\xbd[31m2\xef\xbf\xbd\xef\xbf\xbd");
}

TEST_CASE("what would not be escaped is refused, in a template and in its parts") {
  CHECK_THROWS_AS(filled_in("{{{a}}}", {{"a", "x"}}), std::logic_error);
  CHECK_THROWS_AS(filled_in("{{&a}}", {{"a", "x"}}), std::logic_error);
  CHECK_THROWS_AS(filled_in("{{ & a}}", {{"a", "x"}}), std::logic_error);
  CHECK_THROWS_AS(filled_in("{{=<% %>=}}<%& a%>", {{"a", "x"}}), std::logic_error);
  CHECK_THROWS_AS(filled_in("{{> a.css}}", {{"a", "x"}}, {{"a.css", "{{{a}}}"}}), std::logic_error);
  CHECK_THROWS_AS(filled_in("{{#a}}", {{"a", "x"}}), std::logic_error);
}

TEST_CASE("sections: repeated, left out where there is nothing, and reversed") {
  const nlohmann::json values = {{"many", {{{"n", 1}}, {{"n", 2}}}},
                                 {"none", nlohmann::json::array()},
                                 {"empty", ""},
                                 {"off", false},
                                 {"nothing", nullptr},
                                 {"zero", 0}};
  CHECK(filled_in("{{#many}}{{n}},{{/many}}", values) == "1,2,");
  CHECK(
      filled_in("{{#none}}x{{/none}}{{#empty}}x{{/empty}}{{#off}}x{{/off}}{{#nothing}}x{{/nothing}}", values).empty());
  CHECK(filled_in("{{^empty}}nothing{{/empty}}", values) == "nothing");
  CHECK(filled_in("{{#zero}}{{zero}}{{/zero}}", values) == "0");
  CHECK(filled_in("{{#many}}{{/many}}-{{empty}}-{{unknown}}-", values) == "---");
}

TEST_CASE("a page needs nothing from elsewhere, and lets nothing be loaded") {
  const std::string page = html_page("a <b>", "<p>{{x}}</p>", {{"x", "1 < 2"}}, "let one = '{\"a\": 1}';");
  CHECK(page.rfind("<!doctype html>", 0) == 0);
  CHECK(page.find("<title>a &lt;b&gt;</title>") != std::string::npos);
  CHECK(page.find("<p>1 &lt; 2</p>") != std::string::npos);
  CHECK(page.find("let one = '{\"a\": 1}';") != std::string::npos);
  CHECK(page.find("default-src 'none'") != std::string::npos);
  for (const char* other : {"http://", "https://", "src=", "@import", "url("})
    CHECK(page.find(other) == std::string::npos);
}

TEST_CASE("a drawing is put where the template says, and nowhere else") {
  const auto page = [](std::string_view body) {
    return html_page("a", body, {{"i", 0}, {"x", "<!--drawing 0-->"}}, "", {"<svg>{{x}}</svg>"});
  };
  CHECK(page("{{x}}<!--drawing {{i}}-->").find("&lt;!--drawing 0--&gt;<svg>{{x}}</svg>") != std::string::npos);
  CHECK_THROWS_AS(page("{{x}}"), std::logic_error);
}

}  // namespace
}  // namespace lab::page
