#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/api/compare.h"
#include "common/checks/symptoms/symptom_kinds.h"

namespace lab {
namespace {

constexpr double kFarAway = std::numeric_limits<double>::infinity();

bool is_whole(const at::Tensor& tensor) {
  return !tensor.is_floating_point() && !tensor.is_complex();
}

/// The magnitude of a claim's values, where there is no error to compare with.
double finite_size(const at::Tensor& tensor) {
  if (tensor.numel() == 0) return 0;
  return tensor.to(at::kDouble).nan_to_num(0, 0, 0).abs().max().item<double>();
}

/// A few values from the middle, the same ones for tensors of the same shape: they refute most claims.
at::Tensor take_sample(at::Tensor tensor) {
  constexpr std::int64_t kEnough = 256;
  while (tensor.numel() > kEnough) tensor = tensor.select(0, tensor.size(0) / 2);
  return tensor;
}

double compute_error(const at::Tensor& actual, const at::Tensor& expected) {
  if (!actual.defined() || actual.sizes() != expected.sizes()) return kFarAway;
  return largest_distance(actual, expected);
}

void add_wrong_results(const CaseEvidence& evidence, int rank, Clues& clues) {
  const auto index = static_cast<std::size_t>(rank);
  const TensorMap& actual = evidence.actual[index];
  for (const auto& [name, expected] : evidence.expected[index]) {
    const auto found = actual.find(name);
    const at::Tensor got = found == actual.end() ? at::Tensor() : found->second;
    if (!comparable(got, expected) || !compare(got, expected, evidence.test_case.tolerance).close)
      clues.wrong.push_back({rank, name, got, expected, compute_error(got, expected)});
  }
}

std::string joined_with_and(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

/// Each once, in quotes.
std::vector<std::string> list_names(const std::vector<WrongResult>& wrong) {
  std::vector<std::string> names;
  for (const WrongResult& each : wrong) {
    const std::string quoted = fmt::format("'{}'", each.name);
    if (std::find(names.begin(), names.end(), quoted) == names.end()) names.push_back(quoted);
  }
  return names;
}

}  // namespace

bool is_gradient(const WrongResult& wrong) {
  const std::string& name = wrong.name;
  const std::string ending = ".grad";
  return name.size() > ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
}

std::vector<int> Clues::ranks() const {
  std::vector<int> all;
  for (const WrongResult& each : wrong) {
    if (all.empty() || all.back() != each.rank) all.push_back(each.rank);
  }
  return all;
}

std::size_t Clues::num_names() const {
  return list_names(wrong).size();
}

std::string Clues::subject() const {
  constexpr std::size_t kMostNames = 3;
  const std::vector<std::string> names = list_names(wrong);
  const char* kind = std::all_of(wrong.begin(), wrong.end(), is_gradient) ? "gradient" : "result";
  if (names.size() > kMostNames) return fmt::format("{} {}s", names.size(), kind);
  return fmt::format("{}{} {}", kind, names.size() == 1 ? "" : "s", joined_with_and(names));
}

Clues all_clues(const CaseEvidence& evidence) {
  Clues clues(evidence, {});
  for (int rank = 0; rank < evidence.size; ++rank) {
    if (!is_asked(evidence.test_case, rank)) continue;
    if (evidence.expected[static_cast<std::size_t>(rank)].empty()) return Clues(evidence, {});
    add_wrong_results(evidence, rank, clues);
  }
  return clues;
}

Clues only_named(const Clues& clues, const std::string& name) {
  Clues some(clues.evidence, {});
  for (const WrongResult& each : clues.wrong) {
    if (each.name == name) some.wrong.push_back(each);
  }
  return some;
}

double largest_distance(const at::Tensor& one, const at::Tensor& other) {
  if (one.numel() == 0) return 0;
  // Integers of 64 bits do not fit into a float64, their differences mostly do.
  if (is_whole(one) && is_whole(other))
    return (one.to(at::kLong) - other.to(at::kLong)).to(at::kDouble).abs().max().item<double>();
  const at::Tensor left = one.to(at::kDouble), right = other.to(at::kDouble);
  const at::Tensor same = left.eq(right).logical_or(left.isnan().logical_and(right.isnan()));
  const at::Tensor distance = (left - right).abs_().masked_fill_(same, 0);
  return distance.nan_to_num(kFarAway, kFarAway, kFarAway).max().item<double>();
}

bool same_values(const at::Tensor& one, const at::Tensor& other) {
  return one.defined() && other.defined() && one.sizes() == other.sizes() && one.scalar_type() == other.scalar_type() &&
         largest_distance(one, other) == 0;
}

bool is_as_claimed(const at::Tensor& value, const at::Tensor& claim, double error) {
  // Data differ from rank to rank by a thousandth of an error, and rounding by a millionth of it in float32.
  const bool is_exact = is_whole(value) && is_whole(claim);
  const double share = is_exact ? 0 : value.scalar_type() == at::kDouble ? 1e-7 : 1e-4;
  const double most = share * (std::isfinite(error) ? error : finite_size(claim));
  return largest_distance(take_sample(value), take_sample(claim)) <= most && largest_distance(value, claim) <= most;
}

bool fits(const WrongResult& wrong, const at::Tensor& claim) {
  if (!claim.defined() || !wrong.actual.defined() || claim.sizes() != wrong.actual.sizes()) return false;
  if (wrong.error == 0) return false;  // nothing but the dtype is wrong: any number would do
  return is_as_claimed(wrong.actual, claim, wrong.error);
}

bool all_fit(const Clues& clues, const std::function<at::Tensor(const WrongResult&)>& claim) {
  return !clues.wrong.empty() && std::all_of(clues.wrong.begin(), clues.wrong.end(),
                                             [&](const WrongResult& each) { return fits(each, claim(each)); });
}

at::Tensor input_named(const Clues& clues, int rank, const std::string& name) {
  const TensorMap& inputs = clues.evidence.inputs[static_cast<std::size_t>(rank)].tensors;
  for (const char* kind : {"input.", "weight."}) {
    const auto found = inputs.find(kind + name);
    if (found != inputs.end()) return found->second;
  }
  return at::Tensor();
}

at::Tensor part_along(const at::Tensor& tensor, std::int64_t dim, std::int64_t parts, std::int64_t index) {
  const std::int64_t length = tensor.size(dim) / parts;
  return tensor.narrow(dim, index * length, length);
}

std::vector<Count> list_counts(const Clues& clues) {
  std::vector<Count> counts;
  if (clues.wrong.empty()) return counts;
  const auto rank = static_cast<std::size_t>(clues.wrong.front().rank);
  for (const auto& [name, value] : clues.evidence.inputs[rank].numbers) {
    if (value >= 2 && value == std::floor(value)) counts.push_back({name, value});
  }
  // One that counts pieces of work is more likely than a size.
  const auto is_likely = [](const Count& count) {
    return count.name.find("micro_batches") != std::string::npos || count.name.find("steps") != std::string::npos;
  };
  const auto first_size = std::stable_partition(counts.begin(), counts.end(), is_likely);
  // Of equal sizes each may be meant.
  std::vector<Count> different(counts.begin(), first_size);
  for (auto size = first_size; size != counts.end(); ++size) {
    const auto same = std::find_if(different.begin(), different.end(),
                                   [&](const Count& count) { return count.value == size->value; });
    if (same == different.end())
      different.push_back(*size);
    else if (!is_likely(*same))
      same->name += " or " + size->name;
  }
  return different;
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::vector<std::string> numbers;
  for (const int rank : ranks) numbers.push_back(std::to_string(rank));
  return (ranks.size() == 1 ? "rank " : "ranks ") + joined_with_and(numbers);
}

}  // namespace lab
