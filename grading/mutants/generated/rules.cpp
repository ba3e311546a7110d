#include "grading/mutants/generated/rules.h"

#include <fmt/format.h>

namespace lab::grading::generated {

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {"rank", "another rank than this one", other_ranks},
      {"size", "another number of ranks", other_sizes},
      {"neighbour", "the other neighbour", other_neighbours},
      {"index", "an index or count beside the right one", shifted_indices},
      {"variable", "another variable of the same type", other_variables},
      {"dim", "another dimension of a tensor", other_dims},
      {"number", "a number beside the right one", other_numbers},
      {"operator", "another operator", other_operators},
      {"operand", "an operand left out", dropped_operands},
      {"condition", "a condition that is never, always or wrongly met", other_conditions},
      {"swapped_arguments", "two arguments in the other order", swapped_arguments},
      {"dropped_argument", "the last argument left out", dropped_arguments},
      {"view_for_copy", "the tensor itself instead of a copy, or a result that is not kept", views_for_copies},
      {"copy_for_move", "a copy where something is handed over", copies_for_moves},
      {"sum_for_mean", "a sum instead of a mean, or the reverse", sums_for_means},
      {"scale", "a result times two or divided by the number of ranks", scaled_sums},
      {"other_call", "another function of the same kind", other_calls},
      {"dropped_call", "an argument instead of the function's result", dropped_calls},
      {"dropped_statement", "a statement left out; such as a wait", dropped_statements},
      {"doubled_statement", "a statement done twice", doubled_statements},
      {"swapped_statements", "two statements in the other order; such as a send and a receive", swapped_statements},
      {"late_message", "a message posted at the end of the block instead of early", late_messages},
      {"early_wait", "a wait as soon as the message is posted", early_waits},
  };
  return all;
}

void propose(const Region& region, std::vector<Proposal>& proposals, std::size_t begin, std::size_t end,
             const std::string& with) {
  if (region.is_guard(begin)) return;
  const std::string before = region.text.line_of(begin, end);
  if (before == with) return;
  if (const std::optional<Edit> edit = region.replaced(begin, end, with))
    proposals.push_back({begin, fmt::format("{} -> {}", before, with.empty() ? "nothing" : with), {*edit}});
}

}  // namespace lab::grading::generated
