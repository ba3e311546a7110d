#include <fmt/format.h>

#include <functional>

#include "common/checks/symptoms/symptom_kinds.h"

// One summand too many, too few, or not summed at all.
namespace lab::symptoms {
namespace {

/// The bias as it is added to the result: along the last dimension, or along that of channels; undefined: it does not
/// fit this shape.
at::Tensor as_added(const at::Tensor& bias, const at::Tensor& result, bool channels_first) {
  if (bias.dim() != 1 || result.dim() == 0) return at::Tensor();
  const std::int64_t dim = channels_first ? 1 : result.dim() - 1;
  if (dim >= result.dim() || result.size(dim) != bias.size(0)) return at::Tensor();
  std::vector<std::int64_t> shape(static_cast<std::size_t>(result.dim()), 1);
  shape[static_cast<std::size_t>(dim)] = bias.size(0);
  return bias.to(at::kDouble).reshape(shape).expand(result.sizes());
}

/// The name of a bias that every wrong result contains `times` more times than it should; empty: none.
std::string surplus_bias(const Clues& clues, double times) {
  if (clues.wrong.empty()) return "";
  for (const auto& [name, unused] : clues.evidence.inputs[static_cast<std::size_t>(clues.wrong.front().rank)].tensors) {
    if (name.find("bias") == std::string::npos) continue;
    const std::string bias_name = name.substr(name.find('.') + 1);
    for (const bool channels_first : {false, true}) {
      const bool fits = all_fit(clues, [&](const WrongResult& each) {
        const at::Tensor bias = input_named(clues, each.rank, bias_name);
        const at::Tensor added = bias.defined() ? as_added(bias, each.expected, channels_first) : bias;
        return added.defined() ? each.expected.to(at::kDouble) + times * added : added;
      });
      if (fits) return bias_name;
    }
  }
  return "";
}

/// True if every wrong result has the rank's input "input.x", times the factor, too much.
bool has_surplus_input(const Clues& clues, const std::function<int(int)>& find_source, double factor) {
  const TensorMap& names = clues.evidence.inputs[static_cast<std::size_t>(clues.wrong.front().rank)].tensors;
  for (const auto& [name, unused] : names) {
    const bool fits = all_fit(clues, [&, input_name = name.substr(name.find('.') + 1)](const WrongResult& each) {
      const at::Tensor input = input_named(clues, find_source(each.rank), input_name);
      if (!input.defined() || input.sizes() != each.expected.sizes()) return at::Tensor();
      const bool whole = !input.is_floating_point() && !each.expected.is_floating_point();
      if (whole) return each.expected + static_cast<std::int64_t>(factor) * input;
      return each.expected.to(at::kDouble) + factor * input.to(at::kDouble);
    });
    if (fits) return true;
  }
  return false;
}

/// What is left out or counted twice in every wrong result: "its own" or "rank 3's"; empty: nothing.
std::string owner_of_surplus(const Clues& clues, double factor) {
  if (!clues.among_ranks() || clues.wrong.empty()) return "";
  if (has_surplus_input(
          clues, [](int rank) { return rank; }, factor))
    return "its own";
  for (int source = 0; source < clues.size(); ++source) {
    if (has_surplus_input(
            clues, [&](int) { return source; }, factor))
      return fmt::format("rank {}'s", source);
  }
  return "";
}

/// The sum of this result over all ranks; undefined: a rank has none, or one of another shape.
at::Tensor sum_over_ranks(const Clues& clues, const WrongResult& wrong) {
  at::Tensor sum = at::zeros(wrong.expected.sizes(), at::kDouble);
  for (const TensorMap& actual : clues.evidence.actual) {
    const auto found = actual.find(wrong.name);
    if (found == actual.end() || !found->second.defined() || found->second.sizes() != sum.sizes()) return at::Tensor();
    sum += found->second.to(at::kDouble);
  }
  return sum;
}

/// True if for every wrong result the sum over ranks, times the factor, equals the expected one.
bool sums_to_expected(const Clues& clues, double factor) {
  if (!clues.among_ranks() || clues.wrong.empty()) return false;
  for (const WrongResult& each : clues.wrong) {
    if (!each.actual.defined() || each.actual.sizes() != each.expected.sizes()) return false;
    const at::Tensor sum = sum_over_ranks(clues, each);
    if (!sum.defined()) return false;
    const at::Tensor scaled = (sum * factor).to(each.actual.scalar_type());  // no more exact than its summands
    if (!is_as_claimed(scaled, each.expected, each.error)) return false;
  }
  return true;
}

}  // namespace

Explanation bias_times_world_size(const Clues& clues) {
  if (!clues.among_ranks()) return std::nullopt;
  const std::string bias = surplus_bias(clues, clues.size() - 1);
  if (bias.empty()) return std::nullopt;
  return fmt::format("'{}' is added {} times, once by every rank before the sum over ranks: add it once, after the sum",
                     bias, clues.size());
}

Explanation bias_missing(const Clues& clues) {
  const std::string bias = surplus_bias(clues, -1);
  if (bias.empty()) return std::nullopt;
  return fmt::format("'{}' is never added to {}", bias, clues.subject());
}

Explanation summand_missing(const Clues& clues) {
  const std::string owner = owner_of_surplus(clues, -1);
  if (owner.empty()) return std::nullopt;
  return fmt::format("in {} of each wrong rank {} summand is missing", clues.subject(), owner);
}

Explanation summand_twice(const Clues& clues) {
  const std::string owner = owner_of_surplus(clues, 1);
  if (owner.empty()) return std::nullopt;
  return fmt::format("in {} of each wrong rank {} summand is counted twice", clues.subject(), owner);
}

Explanation sum_missing(const Clues& clues) {
  if (!sums_to_expected(clues, 1)) return std::nullopt;
  return fmt::format(
      "what the ranks have of {} adds up to what is expected: each has its own summand, and the sum over "
      "ranks is missing",
      clues.subject());
}

Explanation average_missing(const Clues& clues) {
  if (!sums_to_expected(clues, 1.0 / clues.size())) return std::nullopt;
  return fmt::format(
      "the mean over ranks of {} is what is expected: each rank has the result of its own part only, and "
      "nothing is averaged over ranks",
      clues.subject());
}

}  // namespace lab::symptoms
