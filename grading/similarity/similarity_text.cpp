#include "grading/similarity/similarity_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.h"

namespace lab::grading {
namespace {

std::string pair_text(const LabSimilarity& lab, const SimilarPair& pair, const SimilarityLimits& limits) {
  const ComparedCode& first = lab.codes[pair.first];
  const ComparedCode& second = lab.codes[pair.second];
  std::string text = fmt::format("{} {:3.0f} % of {}, {:3.0f} % of {}", pair.is_notable(limits) ? "*" : " ",
                                 100 * pair.share_of_first, shown_student(*lab.hand_ins[pair.first]),
                                 100 * pair.share_of_second, shown_student(*lab.hand_ins[pair.second]));
  const std::vector<MatchingSpan> spans = matching_spans(first, second);
  if (!spans.empty()) {
    const MatchingSpan& longest = spans.front();
    text += fmt::format("; {}, the longest of {}: {} and {}", counted(spans.size(), "run"),
                        counted(longest.num_tokens, "token"), shown_place(first, longest.first, longest.num_tokens),
                        shown_place(second, longest.second, longest.num_tokens));
  }
  return text + "\n";
}

}  // namespace

std::string similarity_text(const std::vector<LabSimilarity>& labs, const SimilarityLimits& limits, std::size_t top) {
  std::string text;
  for (const LabSimilarity& lab : labs) {
    const auto num_notable = std::count_if(lab.pairs.begin(), lab.pairs.end(),
                                           [&](const SimilarPair& pair) { return pair.is_notable(limits); });
    text += fmt::format("{}: {}, {} compared, {} to look at\n", lab.lab, counted(lab.hand_ins.size(), "hand-in"),
                        counted(lab.num_pairs, "pair"), num_notable);
    for (std::size_t i = 0; i < std::min(top, lab.pairs.size()); ++i) text += pair_text(lab, lab.pairs[i], limits);
  }
  return text;
}

}  // namespace lab::grading
