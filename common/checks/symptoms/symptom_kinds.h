#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/checks/symptoms/symptom.h"

// What the symptoms look at, and the symptoms. Internal to the symptom files.
namespace lab {

/// One result that is not as expected on one rank.
struct WrongResult {
  int rank = 0;
  std::string name;     ///< "x.grad"
  at::Tensor actual;    ///< undefined: missing
  at::Tensor expected;  ///< may differ from `actual` in shape or dtype
  double error = 0;     ///< the largest difference; infinite where shapes differ, or where only one of the two is NaN
};

/// Whether it comes from autograd.
bool is_gradient(const WrongResult& wrong);

/// All results that are wrong, or those of one name; by rank, then by name.
class Clues {
 public:
  Clues(const CaseEvidence& of_case, std::vector<WrongResult> results) : evidence(of_case), wrong(std::move(results)) {}

  const CaseEvidence& evidence;
  std::vector<WrongResult> wrong;

  int size() const { return evidence.size; }
  /// True if there is more than one rank and the case needs them.
  bool among_ranks() const { return size() > 1 && !evidence.test_case.only_rank_zero; }
  /// Each rank that has a wrong result, once.
  std::vector<int> ranks() const;
  /// "result 'out'"; "results 'out' and 'x'"; "gradient 'x.grad'"
  std::string subject() const;
  /// With a verb: "result 'out' is"; "results 'out' and 'x' are".
  std::string subject_is() const { return subject() + (num_names() == 1 ? " is" : " are"); }
  std::string subject_has() const { return subject() + (num_names() == 1 ? " has" : " have"); }

 private:
  std::size_t num_names() const;
};

/// The wrong results of all ranks; none if a rank that was asked has no results at all: then its message is the clue.
Clues all_clues(const CaseEvidence& evidence);
Clues only_named(const Clues& clues, const std::string& name);

/// The largest difference between two tensors of one shape; equal NaN differ by 0, NaN and a number by infinity.
double largest_distance(const at::Tensor& one, const at::Tensor& other);

/// The same shape, dtype and values, NaN included.
bool same_values(const at::Tensor& one, const at::Tensor& other);

/// True if the value equals the claim up to rounding, measured against the result's error. Integers must be equal.
bool is_as_claimed(const at::Tensor& value, const at::Tensor& claim, double error);

/// True if the wrong result equals the claim. An undefined claim, or one of another shape, never fits.
bool fits(const WrongResult& wrong, const at::Tensor& claim);

/// True if every wrong result fits its claim.
bool all_fit(const Clues& clues, const std::function<at::Tensor(const WrongResult&)>& claim);

/// A rank's input for the name "x": "input.x", or else "weight.x"; undefined: none.
at::Tensor input_named(const Clues& clues, int rank, const std::string& name);

/// Part `index` of `parts` equal parts along a dimension.
at::Tensor part_along(const at::Tensor& tensor, std::int64_t dim, std::int64_t parts, std::int64_t index);

/// A number that a case was given and that a result may be divided by, such as the number of micro-batches.
struct Count {
  std::string name;
  double value = 0;
};
/// Those of the first wrong rank, the likeliest first.
std::vector<Count> list_counts(const Clues& clues);

/// "ranks 2 and 3", "rank 1".
std::string ranks_text(const std::vector<int>& ranks);

}  // namespace lab

// One function per symptom: the message if it explains every clue, otherwise nullopt.
namespace lab::symptoms {

using Explanation = std::optional<std::string>;

// How a case ended, or what it cost.
Explanation ended_in_deadlock(const CaseEvidence& evidence);
Explanation ended_with_stray_message(const CaseEvidence& evidence);
Explanation another_pattern(const CaseEvidence& evidence);
Explanation works_for_all(const CaseEvidence& evidence);
Explanation works_twice(const CaseEvidence& evidence);
Explanation holds_for_all(const CaseEvidence& evidence);
Explanation one_after_the_other(const CaseEvidence& evidence);
Explanation gathers_everything(const CaseEvidence& evidence);
Explanation nothing_received(const CaseEvidence& evidence);

// Form: shape and dtype.
Explanation gradient_missing(const Clues& clues);
Explanation result_undefined(const Clues& clues);
Explanation wrong_dtype(const Clues& clues);
Explanation joined_along_another_dim(const Clues& clues);
Explanation transposed(const Clues& clues);
Explanation wrong_shape_right_numbers(const Clues& clues);
Explanation wrong_shape_is_part(const Clues& clues);
Explanation wrong_shape_is_whole(const Clues& clues);

// Arguments.
Explanation nothing_changed(const Clues& clues);
Explanation argument_unchanged(const Clues& clues);
Explanation argument_changed(const Clues& clues);
Explanation another_result(const Clues& clues);
Explanation own_part_only(const Clues& clues);
Explanation own_part_missing(const Clues& clues);

// Ranks: the right numbers, on other ranks.
Explanation ranks_swapped(const Clues& clues);
Explanation ranks_shifted(const Clues& clues);
Explanation one_rank_everywhere(const Clues& clues);
Explanation ranks_permuted(const Clues& clues);
Explanation one_input_everywhere(const Clues& clues);
Explanation only_rank_zero_right(const Clues& clues);

// Place: the right numbers, elsewhere in the tensor.
Explanation first_slice_everywhere(const Clues& clues);
Explanation chunks_out_of_order(const Clues& clues);
Explanation borders_only(const Clues& clues);

// Scale.
Explanation divided_by_world_size(const Clues& clues);
Explanation times_world_size(const Clues& clues);
Explanation divided_by_count(const Clues& clues);
Explanation times_count(const Clues& clues);
Explanation sign(const Clues& clues);

// Summands.
Explanation bias_times_world_size(const Clues& clues);
Explanation bias_missing(const Clues& clues);
Explanation summand_missing(const Clues& clues);
Explanation summand_twice(const Clues& clues);
Explanation sum_missing(const Clues& clues);
Explanation average_missing(const Clues& clues);

// Values.
Explanation zeros(const Clues& clues);
Explanation not_a_number(const Clues& clues);
Explanation never_written(const Clues& clues);
Explanation rounding_only(const Clues& clues);

}  // namespace lab::symptoms
