#include "common/course/combined_results.h"

#include <nlohmann/json.hpp>

#include "common/api/errors.h"
#include "common/testing/junit_schema.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"

namespace lab::testing {
namespace {

using Outcome = JunitCase::Outcome;

TEST_CASE("results of several checks become one file of each kind, with a suite for each lab") {
  const TemporaryFolder folder;
  const auto suite = [](const std::string& lab, const std::string& name, Outcome outcome) {
    return to_junit_xml({{lab, {{lab, name, outcome, "m", "t"}}}});
  };
  write_bytes(folder.file("001-a4_x.json"), R"([{"task": "a4.x"}])");
  write_bytes(folder.file("001-a4_x.xml"), suite("a4_x", "a4.x: One", Outcome::kPassed));
  write_bytes(folder.file("002-a9_y.json"), R"([{"task": "a9.x"}, {"task": "a9.y"}])");
  write_bytes(folder.file("002-a9_y.xml"), suite("a9_y", "a9.x: One", Outcome::kFailed));
  write_bytes(folder.file("003-a9_y.xml"), suite("a9_y", "a9.z: One", Outcome::kError));
  write_bytes(folder.file("003-a9_y.problem"), "it would be refused\n");
  write_bytes(folder.file("004-b_z.problem"), "it was not built\nand \x1b]0;x\x07 <b>\n");
  write_bytes(folder.file("004-b_z.build"), "x.cpp:1:1: error: e\n");
  write_bytes(folder.file("notes.txt"), "[");
  const CombinedResults results(folder.file(""));

  REQUIRE(results.problems().size() == 3);
  CHECK(results.problems()[0].build.empty());
  CHECK(results.problems()[1].build == "x.cpp:1:1: error: e\n");
  const auto json = nlohmann::json::parse(results.json());
  REQUIRE(json.size() == 3);
  CHECK(json[2]["task"] == "a9.y");
  const std::vector<JunitSuite> suites = results.suites();
  REQUIRE(suites.size() == 3);
  CHECK(suites[0].cases.size() == 1);
  CHECK(suites[1].name == "a9_y");
  REQUIRE(suites[1].cases.size() == 3);
  CHECK(suites[1].cases[1].outcome == Outcome::kError);
  CHECK(suites[1].cases[2].message == "it would be refused");
  CHECK(suites[2].name == "b_z");
  CHECK(suites[2].cases[0].outcome == Outcome::kError);
  CHECK(junit_violations(to_junit_xml(suites)) == std::vector<std::string>());
}

TEST_CASE("no results are an empty file of each kind; what is not a result is refused") {
  const TemporaryFolder folder;
  CHECK(CombinedResults(folder.file("")).json() == "[]\n");
  CHECK(CombinedResults(folder.file("")).suites().empty());
  CHECK_THROWS_AS(CombinedResults(folder.file("none")), UsageError);
  write_bytes(folder.file("001-a.json"), "[");
  write_bytes(folder.file("001-a.xml"), "");
  const CombinedResults results(folder.file(""));
  CHECK_THROWS_AS(results.json(), UsageError);
  CHECK_THROWS_AS(results.suites(), UsageError);
}

}  // namespace
}  // namespace lab::testing
