#pragma once

#include <string>
#include <vector>

#include "grading/mutants/generated/region.h"

namespace lab::grading::generated {

/// A kind of mistake, found wherever the text allows it.
struct Rule {
  const char* name;  ///< "rank"
  const char* what;  ///< for the list of rules
  std::vector<Proposal> (*find)(const Region& region);
};

/// All rules, in the order in which their mutants are numbered at one place.
const std::vector<Rule>& rules();

// Expressions: operators, literals, conditions.
std::vector<Proposal> other_operators(const Region& region);
std::vector<Proposal> dropped_operands(const Region& region);
std::vector<Proposal> other_numbers(const Region& region);
std::vector<Proposal> other_dims(const Region& region);
std::vector<Proposal> other_conditions(const Region& region);

// Ranks, sizes, neighbours, indices, arguments.
std::vector<Proposal> other_ranks(const Region& region);
std::vector<Proposal> other_sizes(const Region& region);
std::vector<Proposal> other_neighbours(const Region& region);
std::vector<Proposal> shifted_indices(const Region& region);
std::vector<Proposal> other_variables(const Region& region);
std::vector<Proposal> swapped_arguments(const Region& region);

// Calls: copies, means, scales, what is left out.
std::vector<Proposal> views_for_copies(const Region& region);
std::vector<Proposal> sums_for_means(const Region& region);
std::vector<Proposal> scaled_sums(const Region& region);
std::vector<Proposal> other_calls(const Region& region);
std::vector<Proposal> dropped_calls(const Region& region);
std::vector<Proposal> dropped_arguments(const Region& region);
std::vector<Proposal> copies_for_moves(const Region& region);

// Statements, and the order of messages.
std::vector<Proposal> dropped_statements(const Region& region);
std::vector<Proposal> doubled_statements(const Region& region);
std::vector<Proposal> swapped_statements(const Region& region);
std::vector<Proposal> late_messages(const Region& region);
std::vector<Proposal> early_waits(const Region& region);

/// Adds the replacement of tokens [begin, end), if it can be chosen at run time, and if nobody forbids to mutate there.
void propose(const Region& region, std::vector<Proposal>& proposals, std::size_t begin, std::size_t end,
             const std::string& with);

}  // namespace lab::grading::generated
