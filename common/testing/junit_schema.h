#pragma once

#include <string>
#include <vector>

namespace lab::testing {

/// What breaks the rules of JUnit XML, a line each: elements and attributes that junit-10.xsd does not have or requires
/// here, an order that it does not allow, counts that are not those of the elements.
/// Source    junit-10.xsd of Jenkins' xUnit plugin; `skipped` of <testsuites> as in Maven Surefire's reports
std::vector<std::string> junit_violations(const std::string& xml);

}  // namespace lab::testing
