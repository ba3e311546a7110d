#include "common/base/moment.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>

#include "common/base/errors.h"
#include "common/base/option_value.h"
#include "common/base/text.h"

namespace lab {
namespace {

constexpr std::int64_t kSecondsOfDay = 86'400;

/// Source    H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil and civil_from_days
std::int64_t days_before(std::int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719'468;
}

struct Date {
  std::int64_t year = 0;
  int month = 0, day = 0;
};

Date date_of(std::int64_t days) {
  days += 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const std::int64_t day_of_era = days - era * 146'097;
  const std::int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const int month = static_cast<int>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month,
          static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1)};
}

int length_of_month(std::int64_t year, int month) {
  return static_cast<int>(days_before(month == 12 ? year + 1 : year, month == 12 ? 1 : month + 1, 1) -
                          days_before(year, month, 1));
}

/// Reads a text from its beginning, piece by piece.
class MomentReader {
 public:
  explicit MomentReader(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  bool skip(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool skip(std::string_view word) {
    if (rest_.substr(0, word.size()) != word) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void skip_digits() {
    while (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_.front())) != 0) rest_.remove_prefix(1);
  }
  /// The number of exactly `num_digits` digits; nothing if it is not from min to max.
  std::optional<int> number(std::size_t num_digits, int min, int max) {
    if (rest_.size() < num_digits) return std::nullopt;
    int number = 0;
    for (std::size_t i = 0; i < num_digits; ++i) {
      if (std::isdigit(static_cast<unsigned char>(rest_[i])) == 0) return std::nullopt;
      number = 10 * number + (rest_[i] - '0');
    }
    if (number < min || number > max) return std::nullopt;
    rest_.remove_prefix(num_digits);
    return number;
  }

 private:
  std::string_view rest_;
};

std::optional<std::int64_t> date_in(MomentReader& text) {
  const auto year = text.number(4, 1, 9999);
  if (!year || !text.skip('-')) return std::nullopt;
  const auto month = text.number(2, 1, 12);
  if (!month || !text.skip('-')) return std::nullopt;
  const auto day = text.number(2, 1, length_of_month(*year, *month));
  if (!day) return std::nullopt;
  return days_before(*year, *month, *day);
}

std::optional<int> seconds_of_day_in(MomentReader& text) {
  const auto hour = text.number(2, 0, 23);
  if (!hour || !text.skip(':')) return std::nullopt;
  const auto minute = text.number(2, 0, 59);
  if (!minute) return std::nullopt;
  std::optional<int> second = 0;
  if (text.skip(':')) {
    second = text.number(2, 0, 59);
    if (!second) return std::nullopt;
    if (text.skip('.')) text.skip_digits();
  }
  return *hour * 3600 + *minute * 60 + *second;
}

std::optional<int> offset_in(MomentReader& text) {
  text.skip(' ');
  if (text.skip('Z') || text.skip('z') || text.skip("UTC")) return 0;
  const bool west = text.skip('-');
  if (!west && !text.skip('+')) return std::nullopt;
  const auto hours = text.number(2, 0, 23);
  if (!hours) return std::nullopt;
  text.skip(':');
  const auto minutes = text.number(2, 0, 59);
  if (!minutes) return std::nullopt;
  return (west ? -1 : 1) * (*hours * 60 + *minutes);
}

}  // namespace

std::optional<Moment> moment_in(std::string_view text) {
  MomentReader reader(text);
  const auto days = date_in(reader);
  if (!days || !(reader.skip('T') || reader.skip('t') || reader.skip(' '))) return std::nullopt;
  const auto seconds = seconds_of_day_in(reader);
  if (!seconds) return std::nullopt;
  const auto offset = offset_in(reader);
  if (!offset || !reader.at_end()) return std::nullopt;
  return Moment{*days * kSecondsOfDay + *seconds - *offset * 60, *offset};
}

Moment moment_of(const std::string& text, const std::string& where) {
  if (const auto moment = moment_in(text)) return *moment;
  constexpr std::size_t kMostBytes = 100;
  throw UsageError(
      fmt::format("{}: expected a date and time with its offset from UTC, such as 2026-12-01T18:00+01:00, got {}",
                  where, option::quoted(safe_text(text, kMostBytes))));
}

std::string to_text(const Moment& moment) {
  const std::int64_t local = moment.seconds + moment.offset_minutes * 60;
  const std::int64_t days = (local >= 0 ? local : local - (kSecondsOfDay - 1)) / kSecondsOfDay;
  const std::int64_t seconds = local - days * kSecondsOfDay;
  const Date date = date_of(days);
  const int offset = std::abs(moment.offset_minutes);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}{} {}{:02}:{:02}", date.year, date.month, date.day, seconds / 3600,
                     seconds / 60 % 60, seconds % 60 == 0 ? "" : fmt::format(":{:02}", seconds % 60),
                     moment.offset_minutes < 0 ? '-' : '+', offset / 60, offset % 60);
}

}  // namespace lab
