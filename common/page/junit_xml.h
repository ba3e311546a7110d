#pragma once

#include <string>
#include <vector>

// Results of tests as JUnit XML, which GitLab, Jenkins and most of GitHub's reporters read.
namespace lab {

/// One test of a suite. Its class and name should be the same in every run: reporters compare runs by them.
struct JunitCase {
  enum class Outcome {
    kPassed,
    kFailed,  ///< it ran, and what it found is wrong
    kError,   ///< it did not come to an end: it threw, crashed, or waited forever
    kSkipped
  };
  std::string class_name;  ///< "a9_collectives"
  std::string name;        ///< "a9.broadcast: BroadcastFromLast"
  Outcome outcome = Outcome::kPassed;
  std::string message;  ///< what a list of tests shows; not of a test that passed
  std::string text;     ///< all that there is to say
};

struct JunitSuite {
  std::string name;
  std::vector<JunitCase> cases;
};

/// A document of these suites, each with the numbers of its tests, failures, errors and skipped ones. Text may hold any
/// bytes: what XML 1.0 does not allow, and what safe_text() replaces, becomes U+FFFD; a message is one line.
/// Source    junit-10.xsd of Jenkins' xUnit plugin; pugixml, which is used here only
std::string to_junit_xml(const std::vector<JunitSuite>& suites);

/// The suites of such a document. `path` names the file in the message.
/// Errors    UsageError: it is not JUnit XML
std::vector<JunitSuite> junit_suites(const std::string& xml, const std::string& path);

}  // namespace lab
