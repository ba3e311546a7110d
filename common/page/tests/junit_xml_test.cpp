#include "common/page/junit_xml.h"

#include <set>

#include "common/api/errors.h"
#include "common/base/text.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

using Outcome = JunitCase::Outcome;

std::vector<JunitSuite> two_suites() {
  return {{"a4_data_tensor", {{"a4_data_tensor", "a4.x: One", Outcome::kPassed, "", ""}}},
          {"a9_collectives",
           {{"a9_collectives", "a9.x: One", Outcome::kFailed, "expected 12, got 3", "  wrong    One: expected 12\n"},
            {"a9_collectives", "a9.x: Two", Outcome::kError, "deadlock", ""},
            {"a9_collectives", "a9.x: Three", Outcome::kSkipped, "too few heads", ""}}}};
}

TEST_CASE("JUnit XML: the document, to the letter") {
  CHECK(to_junit_xml(two_suites()) == R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" errors="1" skipped="1">
  <testsuite name="a4_data_tensor" tests="1" failures="0" errors="0" skipped="0">
    <testcase classname="a4_data_tensor" name="a4.x: One" />
  </testsuite>
  <testsuite name="a9_collectives" tests="3" failures="1" errors="1" skipped="1">
    <testcase classname="a9_collectives" name="a9.x: One">
      <failure message="expected 12, got 3">  wrong    One: expected 12
</failure>
    </testcase>
    <testcase classname="a9_collectives" name="a9.x: Two">
      <error message="deadlock" />
    </testcase>
    <testcase classname="a9_collectives" name="a9.x: Three">
      <skipped message="too few heads" />
    </testcase>
  </testsuite>
</testsuites>
)");
  CHECK(to_junit_xml({}) == R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="0" failures="0" errors="0" skipped="0" />
)");
}

TEST_CASE("JUnit XML: what is written is read again, whatever the text holds") {
  std::vector<JunitSuite> suites = two_suites();
  suites[1].cases[0].text = "a < b && c > d \"]]>\" 'e' <![CDATA[ <!-- \n\n indented\t\xC3\xA4 \xF0\x9F\x99\x82";
  suites[1].cases[0].message = "x=\"1\" <b> & ]]> &amp; &#0;";
  const std::vector<JunitSuite> read = junit_suites(to_junit_xml(suites), "x.xml");
  REQUIRE(read.size() == 2);
  CHECK(read[0].name == "a4_data_tensor");
  REQUIRE(read[1].cases.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const JunitCase &wrote = suites[1].cases[i], &one = read[1].cases[i];
    CHECK(one.class_name == wrote.class_name);
    CHECK(one.name == wrote.name);
    CHECK(one.outcome == wrote.outcome);
    CHECK(one.message == wrote.message);
    CHECK(one.text == wrote.text);
  }
}

TEST_CASE("JUnit XML: characters that XML 1.0 forbids are replaced, and text is bounded") {
  std::vector<JunitSuite> suites = two_suites();
  JunitCase& one = suites[1].cases[0];
  std::string all_bytes;
  for (int byte = 0; byte < 256; ++byte) all_bytes += static_cast<char>(byte);
  one.name = one.message = one.text = all_bytes + "\xEF\xBF\xBE\xEF\xBF\xBF\xED\xA0\x80";
  suites[1].cases[1].text = std::string(1'000'000, '<');
  const std::string xml = to_junit_xml(suites);
  CHECK(is_utf8(xml));
  CHECK(xml.find("\xEF\xBF\xBE") == std::string::npos);
  CHECK(xml.find("\xEF\xBF\xBF") == std::string::npos);
  for (const char c : xml) {
    if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') continue;
    FAIL_CHECK("control character " << static_cast<int>(c));
  }
  CHECK(xml.size() < 200'000);
  CHECK(junit_suites(xml, "x.xml")[1].cases[0].text.find("<=>?@A") != std::string::npos);
}

TEST_CASE("JUnit XML: anything else is refused") {
  for (const char* text : {"", "<testsuites>", "<html/>", "[]", "<testsuites><testsuite></testsuites>"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(junit_suites(text, "x.xml"), UsageError);
  }
}

}  // namespace
}  // namespace lab
