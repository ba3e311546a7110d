#include "common/testing/junit_schema.h"

#include <algorithm>
#include <map>
#include <pugixml.hpp>
#include <set>

namespace lab::testing {
namespace {

struct Rule {
  std::vector<std::string> children;  ///< any number of each; of results, see check_case()
  std::set<std::string> required, optional;
  bool has_text = false;
};

const std::map<std::string, Rule>& rules() {
  static const std::map<std::string, Rule> all = {
      {"testsuites", {{"testsuite"}, {}, {"name", "time", "tests", "failures", "errors", "skipped"}}},
      {"testsuite",
       {{"properties", "testcase", "system-out", "system-err"},
        {"name", "tests", "failures", "errors"},
        {"skipped", "time", "timestamp", "hostname", "id", "package", "file"}}},
      {"testcase",
       {{"skipped", "error", "failure", "system-out", "system-err"}, {"name"}, {"classname", "time", "group"}}},
      {"skipped", {{}, {}, {"message", "type"}, true}},
      {"error", {{}, {}, {"message", "type"}, true}},
      {"failure", {{}, {}, {"message", "type"}, true}}};
  return all;
}

class Checker {
 public:
  std::vector<std::string> violations;

  void check(pugi::xml_node node) {
    const auto rule = rules().find(node.name());
    if (rule == rules().end()) return say(node, "is not an element of JUnit XML");
    std::set<std::string> missing = rule->second.required;
    for (const pugi::xml_attribute attribute : node.attributes()) {
      missing.erase(attribute.name());
      if (rule->second.required.count(attribute.name()) + rule->second.optional.count(attribute.name()) == 0)
        say(node, std::string("has no attribute ") + attribute.name());
    }
    for (const std::string& name : missing) say(node, "lacks the attribute " + name);
    for (const pugi::xml_node child : node.children()) check_child(node, child, rule->second);
    if (node.name() == std::string("testcase")) check_case(node);
    if (node.name() == std::string("testsuite")) check_counts(node, {node});
    if (node.name() == std::string("testsuites"))
      check_counts(node, {node.children("testsuite").begin(), node.children("testsuite").end()});
  }

 private:
  void say(pugi::xml_node node, const std::string& what) {
    violations.push_back("<" + std::string(node.name()) + " name='" + node.attribute("name").value() + "'> " + what);
  }

  void check_child(pugi::xml_node node, pugi::xml_node child, const Rule& rule) {
    if (child.type() != pugi::node_element) {
      if (!rule.has_text) say(node, "may not contain text");
      return;
    }
    if (std::count(rule.children.begin(), rule.children.end(), child.name()) == 0)
      return say(node, std::string("may not contain <") + child.name() + ">");
    check(child);
  }

  /// Jenkins shows one result of a test, whatever the schema allows.
  void check_case(pugi::xml_node node) {
    int num_results = 0;
    for (const char* name : {"skipped", "error", "failure"})
      num_results += static_cast<int>(std::distance(node.children(name).begin(), node.children(name).end()));
    if (num_results > 1) say(node, "has more than one result");
  }

  void check_counts(pugi::xml_node node, const std::vector<pugi::xml_node>& suites) {
    std::map<std::string, int> counts = {{"tests", 0}, {"failures", 0}, {"errors", 0}, {"skipped", 0}};
    for (const pugi::xml_node suite : suites) {
      for (const pugi::xml_node one : suite.children("testcase")) {
        ++counts["tests"];
        counts["failures"] += one.child("failure") ? 1 : 0;
        counts["errors"] += one.child("error") ? 1 : 0;
        counts["skipped"] += one.child("skipped") ? 1 : 0;
      }
    }
    for (const auto& [name, count] : counts) {
      if (node.attribute(name.c_str()).value() != std::to_string(count))
        say(node,
            name + ": expected " + std::to_string(count) + ", got '" + node.attribute(name.c_str()).value() + "'");
    }
  }
};

}  // namespace

std::vector<std::string> junit_violations(const std::string& xml) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(xml.data(), xml.size());
  if (!parsed) return {std::string("is not XML: ") + parsed.description()};
  if (document.document_element().name() != std::string("testsuites")) return {"the root is not <testsuites>"};
  Checker checker;
  checker.check(document.document_element());
  return checker.violations;
}

}  // namespace lab::testing
