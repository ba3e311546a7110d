#include "common/course/rubric/late_policy.h"

#include "common/testing/message_of.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

using testing::message_of;

/// Of an instructor's file with [late] for the course, and [b1.late] for the lab.
std::optional<LatePolicy> policy(const std::string& text) {
  const TomlTable file = TomlTable::parse(text, "ours.toml");
  const auto part = file.table("b1");
  return read_late_policy(file.table("late"), part ? part->table("late") : std::nullopt);
}

std::string refusal(const std::string& text) {
  return message_of([&] { policy(text); });
}

constexpr char kLab[] = "[b1.late]\ndue = 2026-12-01T18:00:00+01:00\n";

TEST_CASE("a policy: the course's keys, and the lab's in their place") {
  const auto found = policy(
      "[late]\nfree_days = 5\nfree_days_per_lab = 2\npercent_per_day = 10\nmost_percent = 50\ngrace_minutes = 5\n"
      "[b1.late]\ndue = 2026-12-01T18:00:00+01:00\npercent_per_day = 12.5\nof = \"total\"\nlast_day = 7\n"
      "[b1.late.extensions]\ns1 = \"2026-12-03T18:00+01:00\"\n\"Ada Lovelace\" = 2026-12-02 00:00:00Z\n");
  REQUIRE(found);
  CHECK(to_text(found->due) == "2026-12-01 18:00 +01:00");
  CHECK(found->free_days == 5);
  CHECK(found->free_days_per_lab == 2);
  CHECK(found->percent_per_day == 12.5);
  CHECK(found->of_total);
  CHECK(found->most_percent == 50);
  CHECK(found->last_day == 7);
  CHECK(found->grace_minutes == 5);
  CHECK(to_text(found->extensions.at("s1")) == "2026-12-03 18:00 +01:00");
  CHECK(to_text(found->extensions.at("Ada Lovelace")) == "2026-12-02 00:00 +00:00");
}

TEST_CASE("a policy: what is not said") {
  CHECK_FALSE(policy(""));
  CHECK_FALSE(policy("[late]\npercent_per_day = 10\n"));
  const auto found = policy(std::string(kLab) + "percent_per_day = 0\nfree_days = 3\n");
  REQUIRE(found);
  CHECK(found->free_days == 3);  // there is no course that has some
  CHECK_FALSE(found->free_days_per_lab);
  CHECK_FALSE(found->of_total);
  CHECK(found->most_percent == 100);
  CHECK_FALSE(found->last_day);
  CHECK(found->grace_minutes == 0);
}

TEST_CASE("a wrong policy is refused with its line") {
  const std::string lab = kLab;
  CHECK(refusal(kLab) == "ours.toml:1: percent_per_day: expected a number, got nothing");
  CHECK(refusal("[b1.late]\npercent_per_day = 1\n") ==
        "ours.toml:1: due: expected a date and time with its offset from UTC, such as 2026-12-01T18:00:00+01:00, got "
        "nothing");
  for (const char* due : {"2026-12-01T18:00:00", "2026-12-01", "18:00:00", "7"}) {
    CAPTURE(due);
    CHECK(refusal(std::string("[b1.late]\npercent_per_day = 1\ndue = ") + due)
              .find("ours.toml:3: due: expected a date and time with its offset") == 0);
  }
  CHECK(refusal("[b1.late]\npercent_per_day = 1\ndue = \"1 December\"")
            .find("ours.toml:3: due: expected a date and time with its offset") == 0);
  CHECK(refusal(lab + "percent_per_day = 101\n") == "ours.toml:1: percent_per_day: expected 0 to 100, got 101");
  CHECK(refusal(lab + "percent_per_day = -1\n") == "ours.toml:1: percent_per_day: expected 0 to 100, got -1");
  CHECK(refusal(lab + "percent_per_day = nan\n").find("expected a number, got nan") != std::string::npos);
  CHECK(refusal(lab + "percent_per_day = 5\nlast_day = 1.5\n") ==
        "ours.toml:1: last_day: expected an integer, got 1.5");
  CHECK(refusal(lab + "percent_per_day = 5\nof = \"eraned\"\n") ==
        "ours.toml:1: of: expected 'earned' or 'total', got 'eraned'; did you mean 'earned'?");
  CHECK(refusal(lab + "percent_per_dya = 5\n").find("did you mean 'percent_per_day'?") != std::string::npos);
  CHECK(refusal("[late]\ndue = 2026-12-01T18:00:00Z\n").find("ours.toml:2: unknown key 'due'") == 0);
  CHECK(refusal("[late]\nfree_days = 3\npercent_per_day = 5\n" + lab + "free_days = 3\n") ==
        "ours.toml:4: free_days: expected only in [late], for all labs together; hint: free_days_per_lab");
  CHECK(refusal(lab + "percent_per_day = 5\n[b1.late.extensions]\ns1 = 2026-12-01T17:59:59+01:00\n") ==
        "ours.toml:4: 's1': expected an extension to end after 2026-12-01 18:00 +01:00, got 2026-12-01 17:59:59 "
        "+01:00");
  CHECK(refusal(lab + "percent_per_day = 5\nextensions = 3\n").find("extensions: expected a table, got 3") !=
        std::string::npos);
}

}  // namespace
}  // namespace lab
