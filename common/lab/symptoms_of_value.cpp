#include <fmt/format.h>

#include <algorithm>

#include "common/lab/symptom_kinds.h"

// Numbers that no computation of the right kind makes.
namespace lab::symptoms {

Explanation zeros(const Clues& clues) {
  if (!all_fit(clues, [](const WrongResult& each) { return at::zeros_like(each.expected); })) return std::nullopt;
  return fmt::format("{} all zeros: a buffer was made and nothing was written into it", clues.subject_is());
}

Explanation not_a_number(const Clues& clues) {
  const auto has_nan = [](const WrongResult& each) {
    return each.actual.defined() && each.actual.is_floating_point() && each.actual.isnan().any().item<bool>() &&
           !(each.expected.is_floating_point() && each.expected.isnan().any().item<bool>());
  };
  if (clues.wrong.empty() || !std::all_of(clues.wrong.begin(), clues.wrong.end(), has_nan)) return std::nullopt;
  return fmt::format(
      "NaN in {}: it was made of something that must not be used here (what a rank has no right to look at is filled "
      "with NaN), of memory that nothing was received into, or of 0/0",
      clues.subject());
}

Explanation rounding_only(const Clues& clues) {
  constexpr double kMostShare = 1e-5;
  const auto is_rounded = [](const WrongResult& each) {
    if (each.error == 0 || each.expected.numel() == 0) return false;
    return each.error <= kMostShare * each.expected.to(at::kDouble).abs().max().item<double>();
  };
  if (clues.wrong.empty() || !std::all_of(clues.wrong.begin(), clues.wrong.end(), is_rounded)) return std::nullopt;
  return fmt::format(
      "{} off by rounding only: computed in a dtype of fewer digits than the data have, or with differences of large "
      "numbers on the way",
      clues.subject_is());
}

}  // namespace lab::symptoms
