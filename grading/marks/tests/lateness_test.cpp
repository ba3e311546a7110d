#include "grading/marks/lateness.h"

#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

using State = Lateness::State;

LatePolicy ten_percent() {
  LatePolicy policy;
  policy.due = *moment_in("2026-12-01T18:00+01:00");
  policy.percent_per_day = 10;
  return policy;
}

HandedIn at(const char* text) {
  HandedIn handed_in;
  handed_in.at = moment_in(text);
  REQUIRE(handed_in.at);
  return handed_in;
}

Lateness late(const LatePolicy& policy, const char* text) {
  return lateness_of(policy, at(text));
}

TEST_CASE("a day counts from its first second") {
  const LatePolicy policy = ten_percent();
  CHECK(late(policy, "2020-01-01T00:00Z").state == State::kInTime);
  CHECK(late(policy, "2026-12-01T18:00:00+01:00").state == State::kInTime);
  CHECK(late(policy, "2026-12-01T17:00:00Z").state == State::kInTime);
  CHECK(late(policy, "2026-12-01T18:00:00Z").days == 1);  // an hour later
  CHECK(late(policy, "2026-12-01T18:00:01+01:00").days == 1);
  CHECK(late(policy, "2026-12-01T18:00:01+01:00").percent == 10);
  CHECK(late(policy, "2026-12-02T18:00:00+01:00").days == 1);
  CHECK(late(policy, "2026-12-02T18:00:01+01:00").days == 2);
  CHECK(late(policy, "2026-12-02T18:00:01+01:00").percent == 20);
  CHECK(late(policy, "9999-12-31T23:59:59Z").percent == 100);
}

TEST_CASE("a grace moves the end of each day") {
  LatePolicy policy = ten_percent();
  policy.grace_minutes = 10;
  CHECK(late(policy, "2026-12-01T18:10:00+01:00").state == State::kInTime);
  CHECK(late(policy, "2026-12-01T18:10:01+01:00").days == 1);
  CHECK(late(policy, "2026-12-02T18:10:00+01:00").days == 1);
}

TEST_CASE("a day is 24 hours, also when the clocks change") {
  LatePolicy policy = ten_percent();
  policy.due = *moment_in("2026-10-24T18:00+02:00");
  CHECK(late(policy, "2026-10-25T17:00:00+01:00").days == 1);
  CHECK(late(policy, "2026-10-25T17:00:01+01:00").days == 2);
  CHECK(late(policy, "2026-10-25T18:00:00+01:00").days == 2);
  policy.grace_minutes = 60;
  CHECK(late(policy, "2026-10-25T18:00:00+01:00").days == 1);
  policy = ten_percent();
  policy.due = *moment_in("2026-03-28T18:00+01:00");
  CHECK(late(policy, "2026-03-29T19:00:00+02:00").days == 1);
  CHECK(late(policy, "2026-03-29T19:00:01+02:00").days == 2);
}

TEST_CASE("free days first, then the percentage, as far as it goes") {
  LatePolicy policy = ten_percent();
  policy.free_days = 3;
  policy.free_days_per_lab = 2;
  policy.most_percent = 25;
  const Lateness one = late(policy, "2026-12-02T00:00Z");
  CHECK(one.free_days == 1);
  CHECK(one.free_days_left == 2);
  CHECK(one.percent == 0);
  const Lateness four = late(policy, "2026-12-05T00:00Z");
  CHECK(four.days == 4);
  CHECK(four.free_days == 2);
  CHECK(four.free_days_left == 1);
  CHECK(four.percent == 20);
  CHECK(late(policy, "2026-12-06T00:00Z").percent == 25);

  HandedIn spent = at("2026-12-05T00:00Z");
  spent.free_days_left = 0;
  CHECK(lateness_of(policy, spent).percent == 25);
  CHECK(lateness_of(policy, spent).free_days_left == 0);
  policy.free_days.reset();  // as many as the labs permit
  CHECK(lateness_of(policy, spent).free_days == 2);
  CHECK_FALSE(lateness_of(policy, spent).free_days_left);
  policy.free_days_per_lab.reset();
  CHECK(lateness_of(policy, spent).free_days == 0);
}

TEST_CASE("after the last day nothing counts, and no free day is used up") {
  LatePolicy policy = ten_percent();
  policy.free_days = 9;
  policy.last_day = 3;
  CHECK(late(policy, "2026-12-04T18:00:00+01:00").state == State::kLate);
  const Lateness after = late(policy, "2026-12-04T18:00:01+01:00");
  CHECK(after.state == State::kTooLate);
  CHECK(after.free_days_left == 9);
  CHECK(marks_after(after, 60, 100) == 0);
  policy.last_day = 0;
  CHECK(late(policy, "2026-12-01T18:00:01+01:00").state == State::kTooLate);
}

TEST_CASE("an extension is another due time") {
  HandedIn extended = at("2026-12-03T18:00:00+01:00");
  extended.extended_to = moment_in("2026-12-03T18:00+01:00");
  CHECK(lateness_of(ten_percent(), extended).state == State::kInTime);
  extended.at = moment_in("2026-12-03T18:00:01+01:00");
  CHECK(lateness_of(ten_percent(), extended).days == 1);
}

TEST_CASE("what is unknown, or differs, costs nothing") {
  CHECK(lateness_of(ten_percent(), {}).state == State::kUnknown);
  CHECK(marks_after(lateness_of(ten_percent(), {}), 60, 100) == 60);
  HandedIn differs = at("2027-01-01T00:00Z");
  differs.differs = true;
  CHECK(marks_after(lateness_of(ten_percent(), differs), 60, 100) == 60);
}

TEST_CASE("what is left of the marks") {
  LatePolicy policy = ten_percent();
  CHECK(marks_after(late(policy, "2026-12-01T18:00+01:00"), 61.25, 100) == 61.25);
  const Lateness earned = late(policy, "2026-12-02T18:00+01:00");
  CHECK(marks_after(earned, 60, 100) == 54);
  CHECK(marks_after(earned, 120, 100) == 108);  // with a bonus
  CHECK(marks_after(earned, 0, 100) == 0);
  policy.of_total = true;
  const Lateness total = late(policy, "2026-12-02T18:00+01:00");
  CHECK(marks_after(total, 60, 100) == 50);
  CHECK(marks_after(total, 120, 100) == 110);
  CHECK(marks_after(total, 7, 100) == 0);
}

TEST_CASE("free days go to the labs in the order in which they are due") {
  const auto lab = [](const char* name, const char* due, const char* handed_in) {
    LateLab one = {name, ten_percent(), {}};
    one.policy.due = *moment_in(due);
    one.policy.free_days = 3;
    if (*handed_in != '\0') one.handed_in.at = moment_in(handed_in);
    return one;
  };
  std::vector<LateLab> labs = {lab("c", "2026-12-20T00:00Z", "2026-12-22T00:00Z"),   // 2 days late
                               lab("a", "2026-12-10T00:00Z", "2026-12-12T00:00Z"),   // 2
                               lab("b", "2026-12-10T00:00Z", ""),                    // unknown
                               lab("d", "2026-12-30T00:00Z", "2026-12-31T00:00Z"),   // 1
                               lab("e", "2027-01-30T00:00Z", "2027-01-01T00:00Z")};  // in time
  labs[1].handed_in.extended_to = moment_in("2027-02-01T00:00Z");                    // counts where the lab is due
  labs[1].handed_in.at = moment_in("2027-02-03T00:00Z");
  share_free_days(labs);
  CHECK(labs[1].handed_in.free_days_left == 3);
  CHECK(labs[2].handed_in.free_days_left == 1);
  CHECK(labs[0].handed_in.free_days_left == 1);
  CHECK(labs[3].handed_in.free_days_left == 0);
  CHECK(labs[4].handed_in.free_days_left == 0);
  CHECK(lateness_of(labs[0].policy, labs[0].handed_in).percent == 10);
  CHECK(lateness_of(labs[3].policy, labs[3].handed_in).percent == 10);

  labs[4].policy.free_days.reset();
  labs[4].handed_in.free_days_left.reset();
  share_free_days(labs);
  CHECK_FALSE(labs[4].handed_in.free_days_left);
}

TEST_CASE("the sentence for the student") {
  LatePolicy policy = ten_percent();
  const auto said = [&](const char* text) { return to_text(late(policy, text)); };
  CHECK(said("2026-12-01T16:00Z") == "Handed in 2026-12-01 17:00 +01:00, due 2026-12-01 18:00 +01:00: in time.");
  CHECK(said("2026-12-02T18:00Z") ==
        "Handed in 2026-12-02 19:00 +01:00, due 2026-12-01 18:00 +01:00: 2 days late; 20 % of the marks reached are "
        "deducted.");
  policy.of_total = true;
  policy.percent_per_day = 3.3;
  CHECK(said("2026-12-04T00:00Z").find("3 days late; 9.9 % of the lab's marks are deducted.") != std::string::npos);
  policy.free_days = 2;
  policy.last_day = 4;
  CHECK(said("2026-12-01T20:00Z").find("1 day late, which is free. 1 free day is left.") != std::string::npos);
  CHECK(said("2026-12-03T16:00Z").find("2 days late, all of them free. 0 free days are left.") != std::string::npos);
  CHECK(said("2026-12-04T00:00Z").find("3 days late, 2 of them free; 3.3 %") != std::string::npos);
  CHECK(said("2026-12-24T00:00Z").find("23 days late; after 4 days nothing counts. 2 free days are left.") !=
        std::string::npos);
  CHECK(to_text(Lateness()).find("unknown") != std::string::npos);
}

}  // namespace
}  // namespace lab::grading
