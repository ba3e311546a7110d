#include "grading/similarity/lab_similarity.h"

#include <fmt/format.h>

#include "common/base/text.h"

namespace lab::grading {

LabSimilarity compare_lab(const std::string& lab, const std::vector<StudentCode>& hand_ins, const BaseCode& given,
                          const SimilarityLimits& limits) {
  LabSimilarity similarity;
  similarity.lab = lab;
  for (const StudentCode& one : hand_ins) {
    similarity.hand_ins.push_back(one.hand_in);
    similarity.codes.push_back(compared_code(one.sources, given));
  }
  const auto may_be_pair = [&](std::size_t first, std::size_t second) {
    return !have_common_student(*similarity.hand_ins[first], *similarity.hand_ins[second]);
  };
  for (std::size_t second = 0; second < hand_ins.size(); ++second) {
    for (std::size_t first = 0; first < second; ++first) similarity.num_pairs += may_be_pair(first, second) ? 1 : 0;
  }
  similarity.pairs = similar_pairs(similarity.codes, limits, may_be_pair);
  return similarity;
}

std::string shown_student(const PlannedHandIn& hand_in) {
  constexpr std::size_t kLongestName = 100;
  const std::string name = to_text(hand_in.identity);
  return one_line(safe_text(name.empty() ? hand_in.who : name, kLongestName));
}

std::string shown_place(const ComparedCode& code, CodePlace begin, std::size_t num_tokens) {
  const NormalFile& file = code.files[begin.file];
  return fmt::format("{}:{}-{}", file.name, file.tokens[begin.token].line,
                     file.tokens[begin.token + num_tokens - 1].line);
}

const std::vector<std::string>& what_a_match_does_not_show() {
  static const std::vector<std::string> sentences = {
      "A match is a reason to read both and to talk to the students. It is never a mark by itself.",
      "The same textbook, paper or README leads to the same algorithm, and a short task has few ways to write it.",
      "The order of events does not show: who wrote it first, who knew of it, or whether both have it from a third "
      "source, such as a forum, a tutor or an assistant.",
      "What the starter gives to everybody is left out, and what many have counts for less. Both are found by their "
      "text: code from a lecture or an exercise that few have used looks like a match.",
      "No match does not show that a student worked alone: code that was rewritten, or copied from elsewhere, has "
      "none.",
  };
  return sentences;
}

}  // namespace lab::grading
