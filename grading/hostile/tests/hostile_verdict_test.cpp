#include <fmt/format.h>

#include "common/testing/get_message.h"
#include "common/testing/test.h"
#include "grading/hostile/grade_hostile.h"

namespace lab::grading {
namespace {

using lab::testing::contains;

/// A results.json in which two tasks have these marks, and the first says this.
std::string results_with(double first, double second, const std::string& said) {
  return fmt::format(
      R"({{"output": "X: 0 of 10\nisolation: no sockets\nx.cpp: lost",
      "extra_data": {{"isolation": "bubblewrap"}}, "tests": [
      {{"score": {}, "output": "{}", "extra_data": {{"id": "x.first"}}}},
      {{"score": {}, "output": "not run", "extra_data": {{"id": "x.second"}}}},
      {{"output": "not judged", "extra_data": {{"id": "x.third"}}}}]}})",
      first, said, second);
}

HostileEntry entry_that_says(const std::vector<std::string>& says) {
  HostileEntry entry;
  entry.name = "bomb";
  entry.task = "x.first";
  entry.says = says;
  return entry;
}

HostileGrading grading_with(const std::string& results) {
  HostileGrading grading;
  grading.results_json = results;
  grading.reports = {"# X: 0 of 10\n", ""};
  return grading;
}

std::string hostile_complaint(const HostileGrading& grading, const HostileEntry& entry = entry_that_says({}),
                              bool isolated = true) {
  const Verdict verdict = hostile_verdict(entry, isolated, grading);
  CHECK(verdict.as_required == verdict.complaint.empty());
  return verdict.complaint;
}

TEST_CASE("a hostile hand-in without marks, whose report says what it must, is as required") {
  const Verdict verdict = hostile_verdict(entry_that_says({"out of memory", "in vain"}), true,
                                          grading_with(results_with(0, 0, "it was in vain")));
  CHECK(verdict.as_required);
  CHECK(verdict.level == "bubblewrap");
  CHECK(verdict.found == "it was in vain");
}

TEST_CASE("a hostile hand-in may earn exactly what its entry states, in its own task") {
  CHECK(hostile_complaint(grading_with(results_with(5, 0, ""))) == "x.first earned 5 marks");
  CHECK(hostile_complaint(grading_with(results_with(0, 0.5, ""))) == "x.second earned 0.5 marks");
  HostileEntry earns = entry_that_says({});
  earns.marks = 1.25;
  CHECK(hostile_complaint(grading_with(results_with(1.25, 0, "")), earns).empty());
  CHECK(hostile_complaint(grading_with(results_with(2.5, 0, "")), earns) == "x.first earned 2.5 marks");
  CHECK(hostile_complaint(grading_with(results_with(0, 0, "")), earns) == "x.first earned nothing");
}

TEST_CASE("a report that does not say what stopped the attack, or tells too much, is not as required") {
  const HostileEntry entry = entry_that_says({"out of memory", "in vain"});
  CHECK(contains(hostile_complaint(grading_with(results_with(0, 0, "it does not compile")), entry),
                 "does not say out of memory, nor in vain"));
  CHECK(hostile_complaint(grading_with(results_with(0, 0, "")), entry_that_says({"x.cpp: lost"})).empty());
  CHECK_FALSE(hostile_complaint(grading_with(results_with(0, 0, "")), entry_that_says({"sockets"})).empty());
  CHECK(contains(hostile_complaint(grading_with(results_with(0, 0, "BREACH: a socket"))), "BREACH: a socket"));
  HostileGrading telling = grading_with(results_with(0, 0, ""));
  telling.told_secret = true;
  CHECK(hostile_complaint(telling) == "a secret is told");
  HostileGrading printed = grading_with(results_with(0, 0, ""));
  printed.reports.emplace_back("BREACH: on the terminal");
  CHECK(contains(hostile_complaint(printed), "BREACH: on the terminal"));
  HostileGrading obeyed = grading_with(results_with(0, 0, ""));
  obeyed.reports.emplace_back("\x1b[2J");
  CHECK(contains(hostile_complaint(obeyed), "a terminal may obey"));
  CHECK(contains(hostile_complaint(grading_with(results_with(0, 0, "\\u001b[2J"))), "a terminal may obey"));
}

TEST_CASE("whatever is left of a grading, and a grading that fails, is a complaint") {
  HostileGrading grading = grading_with("");
  grading.fault = "the grading was killed by signal 9 (SIGKILL)";
  grading.damage = {"home/secret.txt was changed"};
  CHECK(hostile_complaint(grading) ==
        "the grading was killed by signal 9 (SIGKILL); there is no results.json; home/secret.txt was changed");
}

TEST_CASE("without bubblewrap, an entry that says what it may do then must only leave no damage") {
  HostileEntry entry = entry_that_says({"No such file"});
  HostileGrading grading = grading_with(results_with(5, 0, "BREACH"));
  grading.told_secret = true;
  CHECK_FALSE(hostile_complaint(grading, entry, false).empty());
  entry.at_limits = "It can include the reference.";
  CHECK(hostile_complaint(grading, entry, false).empty());
  CHECK_FALSE(hostile_complaint(grading, entry, true).empty());
  grading.damage = {"3 of its processes still run"};
  CHECK(hostile_complaint(grading, entry, false) == "3 of its processes still run");
}

}  // namespace
}  // namespace lab::grading
