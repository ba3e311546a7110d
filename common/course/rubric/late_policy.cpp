#include "common/course/rubric/late_policy.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "common/base/errors.h"
#include "common/base/option_value.h"
#include "common/base/text.h"

namespace lab {
namespace {

const std::vector<std::string> kCourseKeys = {"free_days",    "free_days_per_lab", "percent_per_day", "of",
                                              "most_percent", "last_day",          "grace_minutes"};

void require_known(const TomlTable& table, const std::vector<std::string>& further) {
  std::vector<std::string> known = kCourseKeys;
  known.insert(known.end(), further.begin(), further.end());
  table.require_known(known);
}

double number_in(const TomlTable& table, const std::string& key, double most) {
  const double number = table.number(key);
  if (number < 0 || number > most)
    throw UsageError(fmt::format("{}: {}: expected 0 to {}, got {}", table.place(), key, most, number));
  return number;
}

int integer_in(const TomlTable& table, const std::string& key, int most) {
  const double number = number_in(table, key, most);
  if (number != std::floor(number))
    throw UsageError(fmt::format("{}: {}: expected an integer, got {}", table.place(), key, number));
  return static_cast<int>(number);
}

bool is_of_total(const TomlTable& table) {
  const std::string of = table.string("of");
  if (of != "earned" && of != "total")
    throw UsageError(fmt::format("{}: of: expected 'earned' or 'total', got {}{}", table.place(), option::quoted(of),
                                 did_you_mean(of, {"earned", "total"})));
  return of == "total";
}

/// Takes over the keys that the table has.
void read_keys(const TomlTable& table, LatePolicy& policy) {
  constexpr int kMostDays = 10'000, kMostMinutes = 24 * 60;
  if (table.has("free_days")) policy.free_days = integer_in(table, "free_days", kMostDays);
  if (table.has("free_days_per_lab")) policy.free_days_per_lab = integer_in(table, "free_days_per_lab", kMostDays);
  if (table.has("percent_per_day")) policy.percent_per_day = number_in(table, "percent_per_day", 100);
  if (table.has("of")) policy.of_total = is_of_total(table);
  if (table.has("most_percent")) policy.most_percent = number_in(table, "most_percent", 100);
  if (table.has("last_day")) policy.last_day = integer_in(table, "last_day", kMostDays);
  if (table.has("grace_minutes")) policy.grace_minutes = integer_in(table, "grace_minutes", kMostMinutes);
}

}  // namespace

std::optional<LatePolicy> read_late_policy(const std::optional<TomlTable>& of_course,
                                           const std::optional<TomlTable>& of_lab) {
  LatePolicy policy;
  if (of_course) {
    require_known(*of_course, {});
    read_keys(*of_course, policy);
  }
  if (!of_lab) return std::nullopt;
  // Free days belong to the course: a lab sets its own only if there is no table for the course.
  require_known(*of_lab, {"due", "extensions"});
  if (of_course && of_course->has("free_days") && of_lab->has("free_days"))
    throw UsageError(of_lab->place() +
                     ": free_days: expected only in [late], for all labs together; hint: free_days_per_lab");
  read_keys(*of_lab, policy);
  if (!of_lab->has("percent_per_day") && !(of_course && of_course->has("percent_per_day")))
    of_lab->number("percent_per_day");  // refuses
  policy.due = of_lab->moment("due");
  if (const auto extensions = of_lab->table("extensions")) {
    for (const std::string& student : extensions->keys()) {
      const Moment due = extensions->moment(student);
      if (due < policy.due)
        throw UsageError(fmt::format("{}: {}: expected an extension to end after {}, got {}", extensions->place(),
                                     option::quoted(student), to_text(policy.due), to_text(due)));
      policy.extensions[student] = due;
    }
  }
  return policy;
}

}  // namespace lab
