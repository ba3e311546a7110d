#include <algorithm>
#include <functional>

#include "common/lab/symptom_kinds.h"
#include "common/report/errors.h"

// How a case ended, or what it cost, where no number says more.
namespace lab::symptoms {
namespace {

bool any_rank(const std::vector<std::string>& sentences, const std::function<bool(const std::string&)>& test) {
  return std::any_of(sentences.begin(), sentences.end(), test);
}

bool numbers_are_right(const CaseEvidence& evidence) {
  for (std::size_t rank = 0; rank < evidence.right.size(); ++rank) {
    if (is_asked(evidence.the_case, static_cast<int>(rank)) && !evidence.right[rank]) return false;
  }
  return true;
}

}  // namespace

Explanation ended_in_deadlock(const CaseEvidence& evidence) {
  const std::vector<int>& codes = evidence.thrown_codes;
  if (std::find(codes.begin(), codes.end(), static_cast<int>(ExitCode::kDeadlock)) == codes.end()) return std::nullopt;
  return "ranks wait for each other, or for a message that nobody sends: a send ends only once its receive is posted. "
         "Match every send with a receive; where two ranks send to each other, let one of them receive first, or post "
         "with isend and irecv and wait for both";
}

Explanation ended_with_stray_message(const CaseEvidence& evidence) {
  const auto dropped = [](const std::string& words) {
    return words.find("without waiting for it") != std::string::npos;
  };
  if (!any_rank(evidence.thrown, dropped)) return std::nullopt;
  return "a message was posted and its Request was dropped: until wait() returns, a send may not have left and a "
         "receive "
         "has not filled its tensor. Keep every Request and wait for it";
}

Explanation gathers_everything(const CaseEvidence& evidence) {
  const auto beyond_most = [](const std::string& words) {
    // More rounds are no more bytes.
    return words.find("at most") != std::string::npos && words.find(" rounds of ") == std::string::npos;
  };
  if (!numbers_are_right(evidence) || !any_rank(evidence.over_budget, beyond_most)) return std::nullopt;
  return "the numbers are right, but more is sent than has to be: whole tensors are gathered where the contract asks "
         "for "
         "parts, or an operation is called more often than the computation needs";
}

Explanation nothing_received(const CaseEvidence& evidence) {
  const auto below_least = [](const std::string& words) {
    return words.find("bytes received") != std::string::npos && words.find("at least") != std::string::npos;
  };
  if (!numbers_are_right(evidence) || !any_rank(evidence.over_budget, below_least)) return std::nullopt;
  return "the numbers are right, but less was received than it takes to bring them here: they were computed from "
         "something that only the other ranks have, or came by other means than the ones that this task is about";
}

}  // namespace lab::symptoms
