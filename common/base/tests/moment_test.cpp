#include "common/base/moment.h"

#include "common/base/errors.h"
#include "common/testing/message_of.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

using testing::message_of;

std::int64_t seconds(const char* text) {
  const auto moment = moment_in(text);
  REQUIRE_MESSAGE(moment, text);
  return moment->seconds;
}

TEST_CASE("a moment is the same however it is written") {
  // date -u -d 2026-12-01T17:00:00Z +%s
  for (const char* text : {"2026-12-01T18:00+01:00", "2026-12-01T17:00:00Z", "2026-12-01 17:00:00.999999000 Z",
                           "2026-12-01 17:00:00 UTC", "2026-12-01t09:00:00-08:00", "2026-12-01 22:30 +0530"})
    CHECK(seconds(text) == 1'796'144'400);
  CHECK(seconds("1970-01-01T00:00Z") == 0);
  CHECK(seconds("1969-12-31T23:59:59Z") == -1);
  CHECK(seconds("2000-02-29T12:00Z") == 951'825'600);
  CHECK(seconds("2100-03-01T00:00Z") - seconds("2100-02-28T00:00Z") == 86'400);
  CHECK(seconds("0001-01-01T00:00Z") == -62'135'596'800);
}

TEST_CASE("a day on which the clocks change is an hour longer or shorter") {
  CHECK(seconds("2026-10-25T18:00+01:00") - seconds("2026-10-24T18:00+02:00") == 25 * 3600);
  CHECK(seconds("2026-03-29T18:00+02:00") - seconds("2026-03-28T18:00+01:00") == 23 * 3600);
}

TEST_CASE("other text is not taken for a date and time") {
  for (const char* text : {"",
                           " ",
                           "2026-12-01",
                           "2026-12-01T18:00",
                           "2026-12-01T18:00:00",
                           "2026-02-29T00:00Z",
                           "2100-02-29T00:00Z",
                           "2026-13-01T00:00Z",
                           "2026-00-01T00:00Z",
                           "2026-12-32T00:00Z",
                           "2026-12-01T24:00Z",
                           "2026-12-01T18:60Z",
                           "2026-12-01T18:00:60Z",
                           "2026-12-01T18:00+24:00",
                           "2026-12-01T18:00+01:00 ",
                           "2026-12-01T18:00Zx",
                           "+026-12-01T18:00Z",
                           "20261201T1800Z",
                           "2026-12-01T18:00+1",
                           "Monday, 1 June 2026, 10:00 AM"})
    CHECK_MESSAGE(!moment_in(text), text);
  CHECK_FALSE(moment_in(std::string_view("2026-12-01T18:00Z\0", 18)));
  CHECK_THROWS_WITH_AS(
      moment_of("tomorrow\n", "--as-of"),
      "--as-of: expected a date and time with its offset from UTC, such as 2026-12-01T18:00+01:00, got "
      "'tomorrow?'",
      UsageError);
}

TEST_CASE("however much somebody gave, the message stays short") {
  CHECK(message_of([] { moment_of(std::string(1 << 20, 'x'), "--as-of"); }).size() < 400);
}

TEST_CASE("as text, in its own offset") {
  for (const char* text : {"2026-12-01 18:00 +01:00", "1969-12-31 23:59:59 +00:00", "2000-02-29 00:00:01 -03:30",
                           "0001-01-01 00:00 +00:00", "9999-12-31 23:59:59 -23:59"})
    CHECK(to_text(*moment_in(text)) == text);
  for (std::int64_t day = -1000; day < 200'000; day += 13) {
    const Moment moment = {day * 86'400 + 5, -90};
    CHECK(moment_in(to_text(moment)) == moment);
  }
}

}  // namespace
}  // namespace lab
