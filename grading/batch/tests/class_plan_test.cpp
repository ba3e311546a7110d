#include "grading/batch/class_plan.h"

#include "common/api/errors.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

using lab::testing::get_message;

HandIn hand_in(const std::string& shown, const std::vector<Student>& students = {}, std::int64_t version = 0) {
  return {"/x/" + shown, shown, shown, students, false, version};
}

/// The code of a version "3b" is "3".
ScannedHandIn scanned(const Identity& identity, const std::map<std::string, std::string>& versions) {
  ScannedHandIn found = {"", identity, versions, versions, {}};
  for (auto& [lab, code] : found.codes) code = code.substr(0, 1);
  return found;
}

std::string get_folder(const HandIn& hand_in, const Identity& identity) {
  return identity.id.empty() ? identity.name.empty() ? hand_in.shown : identity.name : identity.id;
}

const std::map<std::string, std::string> kJudging = {{"a4", "j"}, {"a9", "j"}};

/// "WHO:LAB LAB" for each hand-in.
std::vector<std::string> list_labs(const ClassPlan& plan, std::vector<std::string> PlannedHandIn::*labs) {
  std::vector<std::string> lines;
  for (const PlannedHandIn& one : plan.hand_ins) {
    std::string line = one.who + ":";
    for (const std::string& lab : one.*labs) line += " " + lab;
    lines.push_back(line);
  }
  return lines;
}

TEST_CASE("whose a hand-in is: by the platform and the roster, else by its signature, else by its name") {
  const Roster roster(
      "Student,ID,SIS User ID\n\"Lovelace, Ada\",4711,s1\n\"Hopper, Grace\",4712,s2\n\"Turing, Alan\",4713,s3\n",
      "r.csv");
  const HandIns all = {{hand_in("a.zip", {{"4711", "lovelaceada", ""}}), hand_in("b.zip", {{"99", "x", ""}}),
                        hand_in("c.zip"), hand_in("d.zip"), hand_in("e.zip", {{"4712", "hoppergrace", ""}})},
                       {}};
  const std::vector<ScannedHandIn> found = {scanned({"Ada", "s1"}, {{"a4", "1"}}), scanned({}, {{"a4", "1"}}),
                                            scanned({"G", "s2"}, {{"a9", "1"}}), scanned({}, {{"a4", "1"}}),
                                            scanned({"Ada", "s1"}, {{"a4", "1"}})};
  const ClassPlan plan = plan_class(all, found, &roster, get_folder);
  CHECK(list_labs(plan, &PlannedHandIn::labs) ==
        std::vector<std::string>{"s1: a4", "99: a4", "s2: a9", "d.zip: a4", "s2: a4"});
  CHECK(plan.missing == std::vector<std::size_t>{2});
  CHECK(plan.hand_ins[0].notes.empty());
  CHECK(plan.hand_ins[4].notes ==
        std::vector<std::string>{"e.zip is signed by Ada (s1), and was handed in by Hopper, Grace (s2)"});
  const ClassPlan without = plan_class(all, found, nullptr, get_folder);
  CHECK(without.hand_ins[0].who == "4711");
  CHECK(without.hand_ins[2].who == "s2");
}

TEST_CASE("of several hand-ins of a lab the last counts, lab by lab") {
  const Student ada{"1", "", ""};
  const HandIns all = {{hand_in("a9-1.zip", {ada}, 20), hand_in("a9.zip", {ada}, 10), hand_in("b.zip", {ada}, 15)}, {}};
  const std::vector<ScannedHandIn> found = {scanned({}, {{"a9", "2"}}), scanned({}, {{"a4", "1"}, {"a9", "1"}}),
                                            scanned({}, {{"a4", "2"}})};
  const ClassPlan plan = plan_class(all, found, nullptr, get_folder);
  CHECK(list_labs(plan, &PlannedHandIn::labs) == std::vector<std::string>{"1: a9", "1:", "1: a4"});
  CHECK(plan.hand_ins[1].notes == std::vector<std::string>{"a9.zip: a9 was handed in again: a9-1.zip counts",
                                                           "a9.zip: a4 was handed in again: b.zip counts"});
}

TEST_CASE("due is what is new, handed in differently or judged differently") {
  const HandIns all = {{hand_in("a", {{"1", "", ""}}), hand_in("b", {{"2", "", ""}})}, {}};
  const std::vector<ScannedHandIn> found = {scanned({}, {{"a4", "v2"}, {"a9", "v1"}}), scanned({}, {{"a4", "v1"}})};
  const std::vector<StoredResult> stored = {{"1", "a4", "", "v1", "j", ""}, {"1", "a9", "", "v1", "j", ""}};
  const auto due = [&](const ClassChoice& choice, const std::map<std::string, std::string>& judging = kJudging) {
    ClassPlan plan = plan_class(all, found, nullptr, get_folder);
    choose_due(plan, choice, stored, judging);
    return list_labs(plan, &PlannedHandIn::due);
  };
  using Lines = std::vector<std::string>;
  CHECK(due({}) == Lines{"1: a4", "2: a4"});
  CHECK(due({}, {{"a4", "j"}, {"a9", "other"}}) == Lines{"1: a4 a9", "2: a4"});
  CHECK(due({{}, true, false, {}}) == Lines{"1: a4", "2:"});
  CHECK(due({{}, false, true, {}}) == Lines{"1: a4 a9", "2: a4"});
  CHECK(due({{"2"}, false, true, {}}) == Lines{"1:", "2: a4"});
  CHECK(due({{"a"}, false, false, {}}) == Lines{"1: a4", "2:"});
  CHECK(get_message([&] {
          due({{"nobody"}, false, false, {}});
        }) == "--only nobody: expected a student's id or name, or a hand-in");
}

TEST_CASE("what was decided about files holds until they are handed in differently, or are graded again without it") {
  const HandIns all = {{hand_in("a", {{"1", "", ""}}), hand_in("b", {{"2", "", ""}}), hand_in("c", {{"3", "", ""}})},
                       {}};
  const std::vector<ScannedHandIn> found(3, scanned({}, {{"a4", "v1"}}));
  const Decisions decided{"getenv,'x y'", true};
  const std::vector<StoredResult> stored = {{"1", "a4", "", "v1", judging_with("j", decided), ""},
                                            {"2", "a4", "", "v0", judging_with("j", decided), ""},
                                            {"3", "a4", "", "v1", "j", ""}};
  const auto planned = [&](const ClassChoice& choice, const std::string& judging = "j") {
    ClassPlan plan = plan_class(all, found, nullptr, get_folder);
    choose_due(plan, choice, stored, {{"a4", judging}});
    std::string text;
    for (const PlannedHandIn& one : plan.hand_ins) {
      const Decisions& decisions = one.decisions.at("a4");
      text += one.due.empty() ? "-" : "due";
      text += (decisions.believes_ranks ? "! " : " ") + decisions.accepted + ";";
    }
    return text;
  };
  CHECK(planned({}) == "-! getenv,'x y';due ;- ;");
  CHECK(planned({}, "another suite") == "due! getenv,'x y';due ;due ;");
  CHECK(planned({{}, false, true, {}}) == "due ;due ;due ;");
  CHECK(planned({{"3"}, false, false, {"puts", false}}) == "-! getenv,'x y';- ;due puts;");
  CHECK(planned({{"1"}, false, false, decided}) == "-! getenv,'x y';- ;- ;");
  CHECK(decisions_in("j decided nonsense").accepted.empty());
  CHECK_FALSE(decisions_in("j decided [1]").any());
}

TEST_CASE("what was found in a hand-in survives the way through JSON") {
  Submission submission;
  submission.identity = {"Ada", "s1"};
  SubmittedLab lab;
  lab.lab = "a9_collectives";
  lab.sources = {{"student/x.cpp", "int x;"}};
  submission.labs = {lab};
  const ScannedHandIn before = scan(submission);
  const auto after = from_json_text<ScannedHandIn>(json_text(before), "it");
  CHECK(after.identity.id == "s1");
  CHECK(after.versions == before.versions);
  CHECK_THROWS_AS(from_json_text<ScannedHandIn>("{}", "it"), UsageError);

  // Another version for each thing that can differ.
  std::set<std::string> versions = {before.versions.at("a9_collectives")};
  const auto add = [&](const Submission& other) { versions.insert(scan(other).versions.at("a9_collectives")); };
  Submission other = submission;
  other.labs[0].sources["student/x.cpp"] = "int y;";
  add(other);
  other = submission;
  other.labs[0].sources = {{"student/x.cp", "pint x;"}};
  add(other);
  other = submission;
  other.labs[0].answers = {{"a.md", ""}};
  add(other);
  other = submission;
  other.labs[0].notes = {"n"};
  add(other);
  other = submission;
  other.notes = {"n"};
  add(other);
  other = submission;
  other.identity.name = "Eve";
  add(other);
  CHECK(versions.size() == 7);
}

TEST_CASE("code that several have handed in is judged once, and not at all where a result of it is kept") {
  const HandIns all = {{hand_in("a"), hand_in("b"), hand_in("c"), hand_in("d"), hand_in("e"), hand_in("f")}, {}};
  ClassPlan plan =
      plan_class(all,
                 {scanned({}, {{"a9", "1a"}}), scanned({}, {{"a9", "1b"}}), scanned({}, {{"a4", "1"}}),
                  scanned({}, {{"a9", "2"}}), scanned({}, {{"a9", "2"}, {"a4", "3"}}), scanned({}, {{"a9", "4"}})},
                 nullptr, get_folder);
  const std::vector<StoredResult> stored = {{"d", "a9", "d", "2", "j", ""}, {"f", "a9", "f", "4", "other", ""}};
  choose_due(plan, {}, stored, kJudging);
  const std::vector<std::size_t> to_do = {0, 1, 2, 4, 5};
  const GradingRounds rounds = plan_rounds(plan, to_do, stored);
  CHECK(rounds.own_code == std::vector<std::size_t>{0, 2, 4, 5});  // a4's 1 is not a9's; e's a4 is its own
  CHECK(rounds.same_code == std::vector<std::size_t>{1});
  CHECK(rounds.sources.at("a9 1 j") == "a");
  CHECK(rounds.sources.at("a9 2 j") == "d");
  CHECK(rounds.sources.at("a9 4 j") == "f");
  // Judged again: nothing that is kept counts.
  choose_due(plan, {{}, false, true, {}}, stored, kJudging);
  CHECK(plan_rounds(plan, {3, 4}, {}).own_code == std::vector<std::size_t>{3, 4});
  CHECK(plan_rounds(plan, {3, 4}, {}).sources.at("a9 2 j") == "d");
}

}  // namespace
}  // namespace lab::grading
