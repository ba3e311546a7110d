#pragma once

#include <optional>
#include <string>

#include "common/checks/symptoms/symptom_clues.h"

// One function per symptom: the message if it explains every clue, otherwise nullopt. Internal to the symptom files.
namespace lab::symptoms {

using Explanation = std::optional<std::string>;

// How a case ended, or what it cost.
Explanation ended_in_deadlock(const CaseEvidence& evidence);
Explanation ended_with_stray_message(const CaseEvidence& evidence);
Explanation gathers_everything(const CaseEvidence& evidence);
Explanation nothing_received(const CaseEvidence& evidence);

// Form: shape and dtype.
Explanation gradient_missing(const Clues& clues);
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
Explanation rounding_only(const Clues& clues);

}  // namespace lab::symptoms
