#include "grading/batch/class_late_days.h"

#include "common/testing/message_of.h"
#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

using lab::testing::message_of;

const std::vector<std::string> kTwoLabs = {"a4_data_tensor", "a9_collectives"};

std::map<std::string, LatePolicy> two_policies() {
  LatePolicy policy;
  policy.percent_per_day = 10;
  policy.free_days = 2;
  policy.due = *moment_in("2026-12-01T18:00Z");
  std::map<std::string, LatePolicy> policies = {{"a4_data_tensor", policy}};
  policy.due = *moment_in("2026-12-15T18:00Z");
  policies["a9_collectives"] = policy;
  return policies;
}

MarkedStudent a_student(std::optional<std::size_t> row, const std::string& who, const std::string& name) {
  MarkedStudent student;
  student.roster_row = row;
  student.who = who;
  student.identity = {name, who};
  return student;
}

TEST_CASE("times come from the table, or else the platform; free days are shared over both labs") {
  const Roster roster("Student,ID\nAda Lovelace,s1\nGrace Hopper,s2\nAlan Turing,s3\n", "r.csv");
  const HandInTimes times(
      Roster("SID,Name,A4,a9\nS1,,2026-12-02 18:00 Z,\nx,Grace Hopper,,2026-12-16T00:00Z\n", "t.csv"), "t.csv",
      kTwoLabs);
  std::vector<MarkedStudent> students = {a_student(0, "s1", "Ada"), a_student(1, "s2", "Grace"),
                                         a_student(2, "s3", "Alan"), a_student({}, "eve", "Eve")};
  for (MarkedStudent& student : students) student.handed_in["a9_collectives"];
  students[0].handed_in["a9_collectives"].at = moment_in("2026-12-17T18:00Z");
  students[1].handed_in["a9_collectives"].at = moment_in("2026-12-10T00:00Z");
  const std::vector<std::string> notes = complete_hand_in_times(two_policies(), &roster, &times, students);
  CHECK(notes == std::vector<std::string>{
                     "a9: when 2 students handed in is unknown, and nothing is deducted for late days: s3, eve"});
  // A4 is not graded here, but took one of her free days.
  CHECK(to_text(*students[0].handed_in["a4_data_tensor"].at) == "2026-12-02 18:00 +00:00");
  CHECK(students[0].handed_in["a9_collectives"].free_days_left == 1);
  CHECK(to_text(*students[1].handed_in["a9_collectives"].at) == "2026-12-16 00:00 +00:00");
  CHECK(students[1].handed_in["a9_collectives"].free_days_left == 2);
  CHECK_FALSE(students[2].handed_in["a9_collectives"].at);
}

TEST_CASE("a table may call students as any column of the roster does, or as they call themselves") {
  const Roster roster("Student,ID,SIS User ID\nAda Lovelace,11,s1\nGrace Hopper,12,s2\n", "r.csv");
  const auto times_by = [](const std::string& csv) { return HandInTimes(Roster(csv, "t.csv"), "t.csv", kTwoLabs); };
  const auto known_of = [&](const HandInTimes& times, const Roster* by) {
    std::vector<MarkedStudent> students = {a_student({}, "s2", "Grace Hopper")};
    if (by != nullptr) students[0].roster_row = 1;
    students[0].handed_in["a9_collectives"];
    complete_hand_in_times(two_policies(), by, &times, students);
    return students[0].handed_in["a9_collectives"].at.has_value();
  };
  for (const char* row : {"12,", "S2,", "x,\"Hopper, Grace\"", "x,Grace Hopper"})
    CHECK_MESSAGE(known_of(times_by("ID,Name,a9\n" + std::string(row) + ",2026-12-16T00:00Z\n"), &roster), row);
  for (const char* row : {"11,", "13,Hopper", "x,"})
    CHECK_MESSAGE(!known_of(times_by("ID,Name,a9\n" + std::string(row) + ",2026-12-16T00:00Z\n"), &roster), row);
  CHECK(known_of(times_by("ID,Name,a9\nS2,,2026-12-16T00:00Z\n"), nullptr));
  CHECK(known_of(times_by("ID,Name,a9\nx,grace hopper,2026-12-16T00:00Z\n"), nullptr));
  CHECK_FALSE(known_of(times_by("ID,Name,a9\nx,,2026-12-16T00:00Z\n"), nullptr));
}

TEST_CASE("extensions are those of whom they name") {
  const Roster roster("Student,ID,Email\nAda Lovelace,s1,ada@x.org\nGrace Hopper,s2,g@x.org\n", "r.csv");
  auto policies = two_policies();
  const Moment later = *moment_in("2026-12-20T00:00Z");
  policies["a9_collectives"].extensions = {{"S1", later}, {"grace hopper", later}, {"eve", later}, {"s12", later}};
  std::vector<MarkedStudent> students = {a_student(0, "s1", "Ada"), a_student(1, "s2", "Grace"),
                                         a_student({}, "x", "Eve")};
  CHECK(complete_hand_in_times(policies, &roster, nullptr, students) ==
        std::vector<std::string>{"a9: the extension of 's12' is no student's of this class"});
  for (MarkedStudent& student : students) {
    CHECK(student.handed_in["a9_collectives"].extended_to == later);
    CHECK_FALSE(student.handed_in["a4_data_tensor"].extended_to);
  }
}

TEST_CASE("a group's hand-in: what its students have in common") {
  const LatePolicy policy = two_policies()["a9_collectives"];
  HandedIn one;
  one.at = moment_in("2026-12-16T19:00Z");  // two days late
  one.free_days_left = 2;
  HandedIn other = one;
  other.at = moment_in("2026-12-16T20:00+01:00");
  CHECK_FALSE(together(&policy, {one, other}).several);
  CHECK(lateness_of(policy, together(&policy, {one, other})).free_days_left == 0);
  other.free_days_left = 1;
  CHECK(together(&policy, {one, other}).differs);
  CHECK_FALSE(together(nullptr, {one, other}).differs);
  other = one;
  other.extended_to = one.at;
  CHECK(together(&policy, {one, other}).differs);
  other = one;
  other.at.reset();
  CHECK(together(&policy, {one, other}).differs);
  CHECK_FALSE(together(&policy, {}).at);

  // It costs nobody anything: then it does not matter what each has left, and nobody reads that of the others.
  one.at = other.at = moment_in("2026-12-15T18:00Z");
  other.free_days_left = 1;
  const Lateness late = lateness_of(policy, together(&policy, {one, other}));
  CHECK(late.state == Lateness::State::kInTime);
  CHECK_FALSE(late.free_days_left);
  one.at = other.at = moment_in("2026-12-16T18:00Z");
  CHECK(lateness_of(policy, together(&policy, {one, other})).free_days == 1);
  CHECK_FALSE(lateness_of(policy, together(&policy, {one, other})).free_days_left);
}

TEST_CASE("a table of times that cannot be used says why") {
  const auto refusal = [](const std::string& csv) {
    return message_of([&] { HandInTimes(Roster(csv, "t.csv"), "t.csv", kTwoLabs); });
  };
  CHECK(refusal("ID,a5\n1,\n") == "t.csv: expected a column for each lab, such as a4, got ID, a5");
  CHECK(refusal("ID,a9\ns1,yesterday\n") ==
        "t.csv: a9 of s1: expected a date and time with its offset from UTC, such as 2026-12-01T18:00+01:00, got "
        "'yesterday'");
  CHECK(refusal("ID,a9_collectives\ns1,2026-12-01 18:00:00\n").find("t.csv: a9_collectives of s1: expected") == 0);
}

}  // namespace
}  // namespace lab::grading
