#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/checks/symptoms/symptom_kinds.h"

// Shape and dtype: checked before the numbers.
namespace lab::symptoms {
namespace {

/// True if the test holds for every wrong result.
bool holds_for_all(const Clues& clues, const std::function<bool(const WrongResult&)>& test) {
  return !clues.wrong.empty() && std::all_of(clues.wrong.begin(), clues.wrong.end(), test);
}

bool has_other_shape(const WrongResult& wrong) {
  return wrong.actual.defined() && wrong.actual.sizes() != wrong.expected.sizes();
}

/// The dimension along which the larger of two shapes is `parts` times as long, all others being equal; -1: none.
std::int64_t divided_dim(at::IntArrayRef larger, at::IntArrayRef smaller, std::int64_t parts) {
  if (larger.size() != smaller.size()) return -1;
  std::int64_t divided = -1;
  for (std::size_t dim = 0; dim < larger.size(); ++dim) {
    if (larger[dim] == smaller[dim]) continue;
    if (divided >= 0 || larger[dim] != smaller[dim] * parts) return -1;
    divided = static_cast<std::int64_t>(dim);
  }
  return divided;
}

/// The same parts of the expected result, one for each rank, joined along `joined` where they belong along `right`.
at::Tensor joined_wrongly(const at::Tensor& expected, std::int64_t right, std::int64_t joined, int parts) {
  if (right == joined || expected.size(right) % parts != 0) return at::Tensor();
  return at::cat(expected.chunk(parts, right), joined);
}

/// Calls with every pair of different dimensions until one returns true.
bool any_pair_of_dims(const at::Tensor& tensor, const std::function<bool(std::int64_t, std::int64_t)>& test) {
  for (std::int64_t one = 0; one < tensor.dim(); ++one) {
    for (std::int64_t other = 0; other < tensor.dim(); ++other) {
      if (one != other && test(one, other)) return true;
    }
  }
  return false;
}

std::string describe_shapes(const WrongResult& wrong) {
  return fmt::format("{} instead of {}", shape_text(wrong.actual.sizes()), shape_text(wrong.expected.sizes()));
}

bool any_rank(const std::vector<std::string>& messages, const std::function<bool(const std::string&)>& test) {
  return std::any_of(messages.begin(), messages.end(), test);
}

bool numbers_are_right(const CaseEvidence& evidence) {
  for (std::size_t rank = 0; rank < evidence.right.size(); ++rank) {
    if (is_asked(evidence.test_case, static_cast<int>(rank)) && !evidence.right[rank]) return false;
  }
  return true;
}

}  // namespace

Explanation gradient_missing(const Clues& clues) {
  if (!holds_for_all(clues, [](const WrongResult& each) { return !each.actual.defined() && is_gradient(each); }))
    return std::nullopt;
  return fmt::format(
      "{} never arrived: autograd found no path back to it. A detach(), a new tensor in its place, a function without "
      "a backward, or a tensor that does not require a gradient cuts the path",
      clues.subject());
}

Explanation result_undefined(const Clues& clues) {
  if (!holds_for_all(clues, [](const WrongResult& each) { return !each.actual.defined(); })) return std::nullopt;
  return fmt::format("{} undefined: a tensor was returned that nothing was assigned to, or was moved from",
                     clues.subject_is());
}

Explanation wrong_dtype(const Clues& clues) {
  const auto test = [](const WrongResult& each) {
    return each.actual.defined() && each.actual.sizes() == each.expected.sizes() &&
           each.actual.scalar_type() != each.expected.scalar_type();
  };
  if (!holds_for_all(clues, test)) return std::nullopt;
  const WrongResult& first = clues.wrong.front();
  return fmt::format("{} {} instead of {}: a buffer was made without the options of the tensor it is for",
                     clues.subject_is(), dtype_name(first.actual.scalar_type()),
                     dtype_name(first.expected.scalar_type()));
}

Explanation joined_along_another_dim(const Clues& clues) {
  if (!clues.among_ranks()) return std::nullopt;
  std::int64_t right_dim = 0, joined_dim = 0;
  const auto test = [&](const WrongResult& each) {
    return any_pair_of_dims(each.expected, [&](std::int64_t right, std::int64_t joined) {
      right_dim = right;
      joined_dim = joined;
      return fits(each, joined_wrongly(each.expected, right, joined, clues.size()));
    });
  };
  if (!holds_for_all(clues, test)) return std::nullopt;
  return fmt::format("{} the right parts of all ranks, but they are joined along dimension {} instead of {}",
                     clues.subject_has(), joined_dim, right_dim);
}

Explanation transposed(const Clues& clues) {
  std::int64_t first_dim = 0, second_dim = 0;
  const auto test = [&](const WrongResult& each) {
    return any_pair_of_dims(each.expected, [&](std::int64_t one, std::int64_t other) {
      first_dim = std::min(one, other);
      second_dim = std::max(one, other);
      return fits(each, each.expected.transpose(one, other));
    });
  };
  if (!holds_for_all(clues, test)) return std::nullopt;
  return fmt::format("{} right, except that dimensions {} and {} are swapped: one transpose too many or too few",
                     clues.subject_is(), first_dim, second_dim);
}

Explanation wrong_shape_right_numbers(const Clues& clues) {
  const auto test = [](const WrongResult& each) {
    if (!has_other_shape(each) || each.actual.numel() != each.expected.numel()) return false;
    WrongResult flat = each;
    flat.actual = each.actual.reshape(-1);
    return fits(flat, each.expected.reshape(-1));
  };
  if (!holds_for_all(clues, test)) return std::nullopt;
  return fmt::format("{} the right numbers in the right order, but another shape: {}", clues.subject_has(),
                     describe_shapes(clues.wrong.front()));
}

Explanation wrong_shape_is_part(const Clues& clues) {
  if (!clues.among_ranks()) return std::nullopt;
  const auto test = [&](const WrongResult& each) {
    return has_other_shape(each) && divided_dim(each.expected.sizes(), each.actual.sizes(), clues.size()) >= 0;
  };
  if (!holds_for_all(clues, test)) return std::nullopt;
  return fmt::format("{} the shape of one rank's part, {}: what the other ranks have was not joined to it",
                     clues.subject_has(), describe_shapes(clues.wrong.front()));
}

Explanation wrong_shape_is_whole(const Clues& clues) {
  if (!clues.among_ranks()) return std::nullopt;
  const auto test = [&](const WrongResult& each) {
    return has_other_shape(each) && divided_dim(each.actual.sizes(), each.expected.sizes(), clues.size()) >= 0;
  };
  if (!holds_for_all(clues, test)) return std::nullopt;
  return fmt::format("{} the shape of the whole, {}: each rank should keep its own part only", clues.subject_has(),
                     describe_shapes(clues.wrong.front()));
}

Explanation ended_in_deadlock(const CaseEvidence& evidence) {
  const std::vector<int>& codes = evidence.thrown_codes;
  if (std::find(codes.begin(), codes.end(), static_cast<int>(ExitCode::kDeadlock)) == codes.end()) return std::nullopt;
  for (const char* name :
       {"all_reduce", "all_gather", "broadcast", "barrier", "reduce_scatter", "all_to_all", "agree"}) {
    const auto waits_in_it = [&](const std::string& message) {
      return message.find(fmt::format(" in {} (", name)) != std::string::npos;
    };
    if (any_rank(evidence.thrown, waits_in_it))
      return fmt::format(
          "{} is called by some ranks only: every rank must call the same collectives, in the same order. Look for an "
          "if "
          "or a loop that depends on the rank, or an early return, before it",
          name);
  }
  return "ranks wait for each other, or for a message that is never sent: a send ends only once its receive is posted. "
         "Match every send with a receive; where two ranks send to each other, let one of them receive first, or post "
         "with isend and irecv and wait for both";
}

Explanation ended_with_stray_message(const CaseEvidence& evidence) {
  const auto dropped = [](const std::string& message) {
    return message.find("without waiting for it") != std::string::npos;
  };
  if (!any_rank(evidence.thrown, dropped)) return std::nullopt;
  return "a message was posted and its Request was dropped: until wait() returns, a send may not have left and a "
         "receive has not filled its tensor. Keep every Request and wait for it";
}

/// Whether a violated bound is about who waits for whom or sends to whom, not about how much is sent.
bool is_of_pattern(const std::string& message) {
  for (const char* part : {" rounds ", " destinations ", "both ways", "other ranks to send to"}) {
    if (message.find(part) != std::string::npos) return true;
  }
  return false;
}

Explanation another_pattern(const CaseEvidence& evidence) {
  if (!numbers_are_right(evidence) || !any_rank(evidence.over_budget, is_of_pattern)) return std::nullopt;
  return "the numbers are right, but the messages are not those of the algorithm that this task is about: they go to "
         "other ranks, or wait for each other where they need not";
}

/// Whether a violated bound is about what a rank computes, what it holds, how long the ranks take.
bool is_of_work(const std::string& message) {
  return message.find(" of one process's work") != std::string::npos;
}
bool is_of_memory(const std::string& message) {
  return message.find(" of one process's memory") != std::string::npos;
}
bool is_of_time(const std::string& message) {
  return message.find(" of model time") != std::string::npos;
}

/// Whether it is nearly all of one process's work: "does 0.98 of one process's work ..."
bool is_of_all_work(const std::string& message) {
  constexpr double kNearlyAll = 0.9;
  double share = 0;
  return is_of_work(message) && std::sscanf(message.c_str(), "does %lf", &share) == 1 && share >= kNearlyAll;
}

Explanation works_for_all(const CaseEvidence& evidence) {
  if (evidence.test_case.only_rank_zero) return std::nullopt;  // there is nobody to share with
  if (!numbers_are_right(evidence) || !any_rank(evidence.over_budget, is_of_all_work)) return std::nullopt;
  return "the numbers are right, but the work is not shared: a rank computes more than its part, perhaps the whole";
}

Explanation works_twice(const CaseEvidence& evidence) {
  if (!numbers_are_right(evidence) || !any_rank(evidence.over_budget, is_of_work)) return std::nullopt;
  return "the numbers are right, but a rank computes more than its part: something is computed twice, or for other "
         "ranks, or a gradient that is not asked for";
}

Explanation holds_for_all(const CaseEvidence& evidence) {
  if (!numbers_are_right(evidence) || !any_rank(evidence.over_budget, is_of_memory)) return std::nullopt;
  if (evidence.test_case.only_rank_zero)
    return "the numbers are right, but more is held at a time than necessary: the whole batch goes through at once, "
           "or what is no longer needed is kept";
  return "the numbers are right, but the memory is not shared: a rank holds more than its part, perhaps whole tensors";
}

Explanation one_after_the_other(const CaseEvidence& evidence) {
  if (!numbers_are_right(evidence) || !any_rank(evidence.over_budget, is_of_time)) return std::nullopt;
  return "the numbers are right, but ranks wait for each other where they could work at the same time: post receives "
         "early, and send each result as soon as it is there";
}

Explanation gathers_everything(const CaseEvidence& evidence) {
  const auto beyond_most = [](const std::string& message) {
    // More rounds or partners do not mean more bytes.
    return message.find("at most") != std::string::npos && !is_of_pattern(message) && !is_of_work(message) &&
           !is_of_memory(message) && !is_of_time(message);
  };
  if (!numbers_are_right(evidence) || !any_rank(evidence.over_budget, beyond_most)) return std::nullopt;
  return "the numbers are right, but more is sent than necessary: whole tensors are gathered where the contract asks "
         "for parts, or an operation is called more often than the computation needs";
}

Explanation nothing_received(const CaseEvidence& evidence) {
  const auto below_least = [](const std::string& message) {
    return message.find("bytes received") != std::string::npos && message.find("at least") != std::string::npos;
  };
  if (!numbers_are_right(evidence) || !any_rank(evidence.over_budget, below_least)) return std::nullopt;
  return "the numbers are right, but less was received than it takes to bring them here: they were sent in a dtype of "
         "fewer "
         "bytes, computed from something that only the other ranks have, or came by other means than the ones that "
         "this "
         "task is about";
}

}  // namespace lab::symptoms
