#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "common/checks/symptoms/symptom_kinds.h"
#include "common/tensor/meters/memory_meter.h"

// Results that are a multiple of the expected ones, or whose step from the old value (of a weight, say) is.
namespace lab::symptoms {
namespace {

/// Integers stay whole, as they do when they are summed and divided: float64 does not hold all of them.
at::Tensor whole_times(const at::Tensor& expected, double factor) {
  const bool divides = factor > 0 && factor < 1;
  const auto whole = static_cast<std::int64_t>(std::llround(divides ? 1 / factor : factor));
  return divides ? expected.div(whole, "trunc") : expected * whole;
}

at::Tensor times(const WrongResult& wrong, const at::Tensor& before, double factor) {
  if (!wrong.expected.is_floating_point() && !before.defined()) return whole_times(wrong.expected, factor);
  const at::Tensor expected = wrong.expected.to(at::kDouble);
  if (!before.defined()) return expected * factor;
  if (before.sizes() != expected.sizes()) return at::Tensor();
  return before.to(at::kDouble) + (expected - before.to(at::kDouble)) * factor;
}

/// A single integer counts something, and is a multiple of another one by chance.
bool is_count(const WrongResult& wrong) {
  return !wrong.expected.is_floating_point() && wrong.expected.numel() == 1;
}

/// What is too large by that factor, as text with a verb; empty: nothing.
std::string scaled_by(const Clues& clues, double factor) {
  if (std::all_of(clues.wrong.begin(), clues.wrong.end(), is_count)) return "";
  if (all_fit(clues, [&](const WrongResult& each) { return times(each, at::Tensor(), factor); }))
    return clues.subject_is();
  const bool steps = all_fit(clues, [&](const WrongResult& each) {
    const at::Tensor before = input_named(clues, each.rank, each.name);
    return before.defined() ? times(each, before, factor) : before;
  });
  return steps ? fmt::format("the step from the old to the new {} is", clues.subject()) : "";
}

}  // namespace

Explanation divided_by_world_size(const Clues& clues) {
  if (!clues.among_ranks()) return std::nullopt;
  const std::string what = scaled_by(clues, 1.0 / clues.size());
  if (what.empty()) return std::nullopt;
  return fmt::format("{} divided by the number of ranks ({}): a mean was made where the sum is asked for, or twice",
                     what, clues.size());
}

Explanation times_world_size(const Clues& clues) {
  if (!clues.among_ranks()) return std::nullopt;
  const std::string what = scaled_by(clues, clues.size());
  if (what.empty()) return std::nullopt;
  return fmt::format(
      "{} {} times too large, the number of ranks: what every rank has in full was summed over all, or "
      "a sum was not divided to make the mean",
      what, clues.size());
}

Explanation divided_by_count(const Clues& clues) {
  for (const Count& count : list_counts(clues)) {
    const std::string what = scaled_by(clues, 1 / count.value);
    if (!what.empty()) return fmt::format("{} divided by {} ({}), once too often", what, count.name, count.value);
  }
  return std::nullopt;
}

Explanation times_count(const Clues& clues) {
  for (const Count& count : list_counts(clues)) {
    const std::string what = scaled_by(clues, count.value);
    if (!what.empty())
      return fmt::format(
          "{} {} times too large, which is {}: each piece was added in full, not divided by their number", what,
          count.value, count.name);
  }
  return std::nullopt;
}

Explanation sign(const Clues& clues) {
  const std::string what = scaled_by(clues, -1);
  if (what.empty()) return std::nullopt;
  return fmt::format("{} of the wrong sign: a difference is taken the other way round", what);
}

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
      "NaN in {}: it comes from something that must not be used here (what a rank must not read is filled with NaN), "
      "or from 0/0",
      clues.subject());
}

Explanation never_written(const Clues& clues) {
  // Rounded, added up over the ranks, or divided by their number, it is still of this size; in a smaller type, infinite.
  constexpr double kOfSize = 1.0 / 64;
  const auto holds_garbage = [](const WrongResult& each) {
    if (!each.actual.defined() || each.actual.numel() == 0 || each.actual.element_size() == 1) return false;
    at::Tensor garbage = at::zeros({1}, each.actual.scalar_type());
    std::memset(garbage.data_ptr(), kGarbageByte, garbage.nbytes());
    const double size = kOfSize * garbage.to(at::kDouble).item<double>();
    const auto largest = [](const at::Tensor& tensor) { return tensor.to(at::kDouble).abs().max().item<double>(); };
    return largest(each.actual) > size && (each.expected.numel() == 0 || largest(each.expected) < size);
  };
  if (clues.wrong.empty() || !std::all_of(clues.wrong.begin(), clues.wrong.end(), holds_garbage)) return std::nullopt;
  return fmt::format(
      "{} from memory that was never written: a buffer, such as one of at::empty(), of which a part is "
      "left out, or into which nothing was received",
      clues.subject_is());
}

Explanation rounding_only(const Clues& clues) {
  constexpr double kMostShare = 1e-5;
  const auto is_rounded = [](const WrongResult& each) {
    if (each.error == 0 || each.expected.numel() == 0) return false;
    if (each.error > kMostShare * each.expected.to(at::kDouble).abs().max().item<double>()) return false;
    // Rounding changes most elements. A few that are wrong only look like it next to one that is far larger.
    return 2 * each.actual.ne(each.expected).sum().item<std::int64_t>() >= each.expected.numel();
  };
  if (clues.wrong.empty() || !std::all_of(clues.wrong.begin(), clues.wrong.end(), is_rounded)) return std::nullopt;
  return fmt::format(
      "{} off by little: rounded to a dtype of fewer digits than the data have, computed with differences of large "
      "numbers on the way, or with a small constant, such as an epsilon, in another place",
      clues.subject_is());
}

}  // namespace lab::symptoms
