#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "common/checks/symptoms/symptom_kinds.h"

// Arguments: changed or not changed, against the contract, or returned instead of the result.
namespace lab::symptoms {
namespace {

/// True if the test holds for every wrong result and the input with its name.
bool holds_for_arguments(const Clues& clues,
                         const std::function<bool(const WrongResult&, const at::Tensor& input)>& test) {
  return !clues.wrong.empty() && std::all_of(clues.wrong.begin(), clues.wrong.end(), [&](const WrongResult& each) {
    const at::Tensor input = input_named(clues, each.rank, each.name);
    return input.defined() && test(each, input);
  });
}

/// Whether another result of the same rank is right: then the work was done, but in the wrong place.
bool has_right_result(const Clues& clues, int rank) {
  const TensorMap& expected = clues.evidence.expected[static_cast<std::size_t>(rank)];
  const auto num_wrong =
      std::count_if(clues.wrong.begin(), clues.wrong.end(), [&](const WrongResult& each) { return each.rank == rank; });
  return static_cast<std::size_t>(num_wrong) < expected.size();
}

/// The name of an input of this rank that came back as the result; empty: none.
std::string returned_input(const Clues& clues, const WrongResult& wrong) {
  for (const auto& [name, input] : clues.evidence.inputs[static_cast<std::size_t>(wrong.rank)].tensors) {
    if (same_values(wrong.actual, input) && fits(wrong, input)) return name;
  }
  return "";
}

/// The name of a weight of this rank that is unchanged; empty: none.
std::string unchanged_weight(const Clues& clues, const WrongResult& wrong) {
  for (const auto& [name, weight] : clues.evidence.inputs[static_cast<std::size_t>(wrong.rank)].tensors) {
    if (name.rfind("weight.", 0) == 0 && same_values(wrong.actual, weight) && fits(wrong, weight))
      return name.substr(name.find('.') + 1);
  }
  return "";
}

/// True if along some dimension with a part for each rank the parts are right where the test says so, and only there.
bool has_right_parts(const Clues& clues, const WrongResult& wrong, const std::function<bool(int part)>& right_in) {
  if (!wrong.actual.defined() || wrong.actual.sizes() != wrong.expected.sizes()) return false;
  const int parts = clues.size();
  for (std::int64_t dim = 0; dim < wrong.expected.dim(); ++dim) {
    if (wrong.expected.size(dim) % parts != 0 || wrong.expected.size(dim) == 0) continue;
    int num_as_said = 0;
    for (int part = 0; part < parts; ++part) {
      const bool right = is_as_claimed(part_along(wrong.actual, dim, parts, part),
                                       part_along(wrong.expected, dim, parts, part), wrong.error);
      num_as_said += right == right_in(part) ? 1 : 0;
    }
    if (num_as_said == parts) return true;
  }
  return false;
}

}  // namespace

Explanation nothing_changed(const Clues& clues) {
  // Where some rank took the step, it was not forgotten.
  if (clues.among_ranks() && static_cast<int>(clues.ranks().size()) != clues.size()) return std::nullopt;
  std::string weight;
  for (const WrongResult& each : clues.wrong) {
    weight = unchanged_weight(clues, each);
    if (weight.empty()) return std::nullopt;
  }
  if (clues.wrong.empty()) return std::nullopt;
  return fmt::format(
      "{} still the '{}' from before the step: the optimizer's step() is missing, comes before backward() or after "
      "zero_grad(), or changes a copy of the weight",
      clues.subject_is(), weight);
}

Explanation argument_unchanged(const Clues& clues) {
  const auto test = [&](const WrongResult& each, const at::Tensor& input) {
    return same_values(each.actual, input) && has_right_result(clues, each.rank);
  };
  if (!holds_for_arguments(clues, test)) return std::nullopt;
  return fmt::format(
      "what is returned is right, but the argument '{}' still has its old value: the contract says in place, so the "
      "result must be written into it",
      clues.wrong.front().name);
}

Explanation argument_changed(const Clues& clues) {
  const auto test = [](const WrongResult& each, const at::Tensor& input) { return same_values(each.expected, input); };
  if (!holds_for_arguments(clues, test)) return std::nullopt;
  return fmt::format(
      "the argument '{}' was changed, which belongs to the caller: work on a copy (clone()), and beware of views and "
      "of functions whose name ends in _",
      clues.wrong.front().name);
}

Explanation another_result(const Clues& clues) {
  std::string other;
  for (const WrongResult& each : clues.wrong) {
    const TensorMap& expected = clues.evidence.expected[static_cast<std::size_t>(each.rank)];
    const auto found = std::find_if(expected.begin(), expected.end(), [&](const auto& result) {
      const bool is_argument = same_values(result.second, input_named(clues, each.rank, result.first));
      const bool by_chance = result.second.numel() < 2;
      return result.first != each.name && !is_argument && !by_chance && fits(each, result.second);
    });
    if (found == expected.end()) return std::nullopt;
    if (other.empty()) other = found->first;
  }
  if (other.empty()) return std::nullopt;
  return fmt::format(
      "{} the numbers that '{}' should have: both are one tensor, which is changed after the first was taken (take a "
      "clone() before), or they are returned in each other's place",
      clues.subject_has(), other);
}

Explanation own_part_only(const Clues& clues) {
  if (!clues.among_ranks() || clues.wrong.empty()) return std::nullopt;
  std::string input;
  for (const WrongResult& each : clues.wrong) {
    const std::string name = returned_input(clues, each);
    const auto is_own = [&](int part) { return part == each.rank; };
    if (name.empty() && !has_right_parts(clues, each, is_own)) return std::nullopt;
    if (input.empty()) input = name;
  }
  if (input.empty())
    return fmt::format("of {} each rank has its own part only: nothing from the other ranks arrived", clues.subject());
  return fmt::format("{} this rank's own '{}', unchanged: nothing from the other ranks arrived", clues.subject_is(),
                     input.substr(input.find('.') + 1));
}

Explanation own_part_missing(const Clues& clues) {
  if (!clues.among_ranks() || static_cast<int>(clues.ranks().size()) != clues.size()) return std::nullopt;
  for (const WrongResult& each : clues.wrong) {
    if (!has_right_parts(clues, each, [&](int part) { return part != each.rank; })) return std::nullopt;
  }
  return fmt::format(
      "of {} each rank's own part is wrong and the parts of all others are right: what a rank has itself does not "
      "arrive in a message, so it must be copied into its place",
      clues.subject());
}

}  // namespace lab::symptoms
