#include "common/page/junit_xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <pugixml.hpp>
#include <sstream>
#include <utility>

#include "common/api/errors.h"
#include "common/base/text.h"

namespace lab {
namespace {

using Outcome = JunitCase::Outcome;

constexpr std::size_t kMessageBytes = 2000;
constexpr std::size_t kTextBytes = 20000;

/// The element inside <testcase>, and the attribute of <testsuite> that counts it.
struct OutcomeNames {
  Outcome outcome;
  const char *element, *count;
};
constexpr OutcomeNames kNames[] = {{Outcome::kFailed, "failure", "failures"},
                                   {Outcome::kError, "error", "errors"},
                                   {Outcome::kSkipped, "skipped", "skipped"}};

/// XML 1.0 has no U+FFFE and U+FFFF; the control characters that it lacks, safe_text() has replaced.
std::string xml_text(const std::string& text, std::size_t max_bytes) {
  std::string safe = safe_text(text, max_bytes);
  for (const char* nonexistent : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (std::size_t at = 0; (at = safe.find(nonexistent, at)) != std::string::npos;)
      safe.replace(at, 3, "\xEF\xBF\xBD");
  }
  return safe;
}

std::string xml_line(const std::string& text) {
  return xml_text(one_line(text), kMessageBytes);
}

std::ptrdiff_t find_number(Outcome outcome, const std::vector<JunitCase>& cases) {
  return std::count_if(cases.begin(), cases.end(), [&](const JunitCase& one) { return one.outcome == outcome; });
}

void add_counts(pugi::xml_node node, const std::vector<JunitCase>& cases) {
  node.append_attribute("tests") = static_cast<unsigned long long>(cases.size());
  for (const OutcomeNames& names : kNames)
    node.append_attribute(names.count) = static_cast<long long>(find_number(names.outcome, cases));
}

void add_case(pugi::xml_node suite, const JunitCase& one) {
  pugi::xml_node node = suite.append_child("testcase");
  node.append_attribute("classname") = xml_line(one.class_name).c_str();
  node.append_attribute("name") = xml_line(one.name).c_str();
  for (const OutcomeNames& names : kNames) {
    if (one.outcome != names.outcome) continue;
    pugi::xml_node result = node.append_child(names.element);
    result.append_attribute("message") = xml_line(one.message).c_str();
    if (!one.text.empty()) result.append_child(pugi::node_pcdata).set_value(xml_text(one.text, kTextBytes).c_str());
  }
}

JunitCase make_case(pugi::xml_node node) {
  JunitCase one;
  one.class_name = node.attribute("classname").value();
  one.name = node.attribute("name").value();
  for (const OutcomeNames& names : kNames) {
    const pugi::xml_node result = node.child(names.element);
    if (!result) continue;
    one.outcome = names.outcome;
    one.message = result.attribute("message").value();
    one.text = result.child_value();
  }
  return one;
}

}  // namespace

std::string to_junit_xml(const std::vector<JunitSuite>& suites) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node root = document.append_child("testsuites");
  std::vector<JunitCase> all;
  for (const JunitSuite& suite : suites) all.insert(all.end(), suite.cases.begin(), suite.cases.end());
  add_counts(root, all);
  for (const JunitSuite& suite : suites) {
    pugi::xml_node node = root.append_child("testsuite");
    node.append_attribute("name") = xml_line(suite.name).c_str();
    add_counts(node, suite.cases);
    for (const JunitCase& one : suite.cases) add_case(node, one);
  }
  std::ostringstream text;
  document.save(text, "  ", pugi::format_default, pugi::encoding_utf8);
  return text.str();
}

std::vector<JunitSuite> junit_suites(const std::string& xml, const std::string& path) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_buffer(xml.data(), xml.size(), pugi::parse_default, pugi::encoding_utf8);
  const pugi::xml_node root = document.child("testsuites");
  if (!parsed || !root)
    throw UsageError(
        fmt::format("{}: expected JUnit XML: {}", path, parsed ? "there is no <testsuites>" : parsed.description()));
  std::vector<JunitSuite> suites;
  for (const pugi::xml_node node : root.children("testsuite")) {
    JunitSuite suite = {node.attribute("name").value(), {}};
    for (const pugi::xml_node one : node.children("testcase")) suite.cases.push_back(make_case(one));
    suites.push_back(std::move(suite));
  }
  return suites;
}

}  // namespace lab
