#include "grading/marks/lateness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "common/base/text.h"

namespace lab::grading {
namespace {

constexpr std::int64_t kSecondsOfDay = 24 * 60 * 60;

/// Days begun within so many seconds; a second that has begun belongs to its day.
int days_begun(std::int64_t seconds) {
  if (seconds <= 0) return 0;
  constexpr std::int64_t kTooMany = 1'000'000;
  return static_cast<int>(std::min((seconds + kSecondsOfDay - 1) / kSecondsOfDay, kTooMany));
}

std::string days_late(const Lateness& lateness) {
  std::string text = counted(lateness.days, "day") + " late";
  if (lateness.free_days == 0) return text;
  if (lateness.free_days < lateness.days) return text + fmt::format(", {} of them free", lateness.free_days);
  return text + (lateness.days == 1 ? ", which is free" : ", all of them free");
}

std::string cost(const Lateness& lateness) {
  if (lateness.state == Lateness::State::kTooLate)
    return fmt::format("; after {} nothing counts", counted(lateness.last_day, "day"));
  if (lateness.days == lateness.free_days) return "";
  return fmt::format("; {:.6g} % of the {} are deducted", lateness.percent,
                     lateness.of_total ? "lab's marks" : "marks reached");
}

}  // namespace

Lateness lateness_of(const LatePolicy& policy, const HandedIn& handed_in) {
  Lateness lateness;
  if (handed_in.differs) {
    lateness.state = Lateness::State::kDiffers;
    return lateness;
  }
  std::optional<int> left = policy.free_days;
  if (left && handed_in.free_days_left) left = handed_in.free_days_left;
  if (!handed_in.several) lateness.free_days_left = left;
  if (!handed_in.at) return lateness;

  lateness.due = handed_in.extended_to.value_or(policy.due);
  lateness.at = Moment{handed_in.at->seconds, lateness.due.offset_minutes};
  lateness.days = days_begun(lateness.at->seconds - lateness.due.seconds - std::int64_t{60} * policy.grace_minutes);
  lateness.of_total = policy.of_total;
  if (lateness.days == 0) {
    lateness.state = Lateness::State::kInTime;
    return lateness;
  }
  if (policy.last_day && lateness.days > *policy.last_day) {
    lateness.state = Lateness::State::kTooLate;
    lateness.last_day = *policy.last_day;
    return lateness;
  }
  lateness.state = Lateness::State::kLate;
  if (left || policy.free_days_per_lab) {
    const int most = std::min(left.value_or(lateness.days), policy.free_days_per_lab.value_or(lateness.days));
    lateness.free_days = std::clamp(most, 0, lateness.days);
    if (left) lateness.free_days_left = *left - lateness.free_days;
    if (handed_in.several) lateness.free_days_left.reset();
  }
  lateness.percent = std::min(policy.percent_per_day * (lateness.days - lateness.free_days), policy.most_percent);
  return lateness;
}

double marks_after(const Lateness& lateness, double marks, double total) {
  switch (lateness.state) {
    case Lateness::State::kTooLate: return 0;
    case Lateness::State::kLate:
      if (lateness.percent == 0) return marks;
      return std::max(0.0, marks - (lateness.of_total ? total : marks) * lateness.percent / 100);
    default: return marks;
  }
}

std::string to_text(const Lateness& lateness) {
  switch (lateness.state) {
    case Lateness::State::kUnknown: return "When it was handed in is unknown: nothing is deducted for late days.";
    case Lateness::State::kDiffers:
      return "The students who handed it in together have different late days: these are the marks without a "
             "deduction.";
    default: break;
  }
  std::string text;
  if (lateness.at) text = fmt::format("Handed in {}, due {}: ", to_text(*lateness.at), to_text(lateness.due));
  text += lateness.state == Lateness::State::kInTime ? "in time" : days_late(lateness) + cost(lateness);
  text += ".";
  if (const auto left = lateness.free_days_left)
    text += fmt::format(" {} {} left.", counted(*left, "free day"), *left == 1 ? "is" : "are");
  return text;
}

void share_free_days(std::vector<LateLab>& labs) {
  std::vector<LateLab*> in_order;
  for (LateLab& lab : labs) in_order.push_back(&lab);
  std::sort(in_order.begin(), in_order.end(), [](const LateLab* a, const LateLab* b) {
    return std::tie(a->policy.due.seconds, a->lab) < std::tie(b->policy.due.seconds, b->lab);
  });
  int num_used = 0;
  for (LateLab* lab : in_order) {
    if (!lab->policy.free_days) continue;
    lab->handed_in.free_days_left = std::max(0, *lab->policy.free_days - num_used);
    num_used += lateness_of(lab->policy, lab->handed_in).free_days;
  }
}

}  // namespace lab::grading
