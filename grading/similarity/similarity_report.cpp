#include "grading/similarity/similarity_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/base/text.h"
#include "common/page/html_page.h"
#include "embedded/grading/similarity/pages.h"

namespace lab::grading {
namespace {

using Json = nlohmann::json;

// Of a lab. In a class with more, the limits are wrong, or everybody has the same.
constexpr std::size_t kMostRows = 100;

/// "Ada Lovelace (s1234567)", or what the hand-in is called; on one line, whatever a student wrote.
std::string shown_student(const PlannedHandIn& hand_in) {
  constexpr std::size_t kLongestName = 100;
  const std::string name = to_text(hand_in.identity);
  return one_line(safe_text(name.empty() ? hand_in.who : name, kLongestName));
}

/// "student/ring.cpp:10-31", or "student/ring.cpp:90 to student/tree.cpp:4".
std::string shown_place(const ComparedCode& code, LineRange lines) {
  const auto first = std::prev(code.files.upper_bound(lines.first));
  const auto last = std::prev(code.files.upper_bound(lines.last));
  const std::size_t begin = lines.first - first->first + 1, end = lines.last - last->first + 1;
  if (first == last) return fmt::format("{}:{}-{}", first->second, begin, end);
  return fmt::format("{}:{} to {}:{}", first->second, begin, last->second, end);
}

/// Marks of direction and other controls, which could make it look like other code, are visible.
std::string shown_code(const ComparedCode& code, LineRange lines) {
  std::string text;
  for (std::size_t i = lines.first; i <= lines.last; ++i) text += std::string(without_line_break(code.lines[i])) + "\n";
  return safe_text(text, text.size());
}

std::string percent(double share) {
  return fmt::format("{:.0f}", 100 * share);
}

std::string pair_text(const LabSimilarity& lab, const SimilarPair& pair, const SimilarityLimits& limits) {
  std::string text = fmt::format("{} {:3.0f} % of {}, {:3.0f} % of {}", pair.is_notable(limits) ? "*" : " ",
                                 100 * pair.share_of_first, shown_student(*lab.hand_ins[pair.first]),
                                 100 * pair.share_of_second, shown_student(*lab.hand_ins[pair.second]));
  if (!pair.runs.empty()) {
    const MatchingRun& longest = pair.runs.front();
    text += fmt::format("; {}, the longest of {}: {} and {}", counted(pair.runs.size(), "run"),
                        counted(longest.num_tokens, "token"), shown_place(lab.codes[pair.first], longest.first),
                        shown_place(lab.codes[pair.second], longest.second));
  }
  return text + "\n";
}

Json make_runs_json(const LabSimilarity& lab, const SimilarPair& pair) {
  const ComparedCode& first = lab.codes[pair.first];
  const ComparedCode& second = lab.codes[pair.second];
  Json runs = Json::array();
  for (const MatchingRun& run : pair.runs) {
    runs.push_back({{"tokens", counted(run.num_tokens, "token")},
                    {"first_place", shown_place(first, run.first)},
                    {"second_place", shown_place(second, run.second)},
                    {"first_code", shown_code(first, run.first)},
                    {"second_code", shown_code(second, run.second)}});
  }
  return runs;
}

Json make_pair_json(const LabSimilarity& lab, const SimilarPair& pair, const SimilarityLimits& limits,
                    std::size_t number) {
  const PlannedHandIn& first = *lab.hand_ins[pair.first];
  const PlannedHandIn& second = *lab.hand_ins[pair.second];
  return {{"first", shown_student(first)},
          {"second", shown_student(second)},
          {"first_hand_in", one_line(safe_text(first.hand_in.shown, 500))},
          {"second_hand_in", one_line(safe_text(second.hand_in.shown, 500))},
          {"first_percent", percent(pair.share_of_first)},
          {"second_percent", percent(pair.share_of_second)},
          {"tokens", std::to_string(pair.num_tokens)},
          {"id", fmt::format("{}_{}", lab.lab, number)},
          {"is_notable", pair.is_notable(limits)},
          {"runs", pair.is_notable(limits) ? make_runs_json(lab, pair) : Json::array()}};
}

std::string describe_method(const SimilarityLimits& limits) {
  return fmt::format(
      "By sim_c++ over all of a lab's student files, in runs of at least 16 tokens: names, comments, formatting and "
      "the "
      "order of functions do not matter. Lines of the starter are left out. A pair is to be looked at if {} % of the "
      "tokens that one of them wrote, and {}, are also in the other. Hand-ins with a student in common are not "
      "compared.",
      percent(limits.share), counted(limits.tokens, "token"));
}

}  // namespace

const std::vector<std::string>& what_a_match_does_not_show() {
  static const std::vector<std::string> sentences = {
      "A match is a reason to read both and to talk to the students. It is never a mark by itself.",
      "The same textbook, paper or README leads to the same algorithm, and a short task has few ways to write it.",
      "The order of events does not show: who wrote it first, who knew of it, or whether both have it from a third "
      "source, such as a forum, a tutor or an assistant.",
      "Only lines of the starter are left out: code that everybody has from a lecture or an exercise looks like a "
      "match.",
      "No match does not show that a student worked alone: code that was rewritten, or copied from elsewhere, has "
      "none.",
  };
  return sentences;
}

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

std::string similarity_page(const std::vector<LabSimilarity>& labs, const SimilarityLimits& limits,
                            const std::vector<std::string>& not_compared) {
  Json shown_labs = Json::array();
  std::size_t num_notable = 0;
  for (const LabSimilarity& lab : labs) {
    Json pairs = Json::array();
    for (const SimilarPair& pair : lab.pairs) {
      if (pair.is_notable(limits)) ++num_notable;
      if (pairs.size() < kMostRows) pairs.push_back(make_pair_json(lab, pair, limits, pairs.size() + 1));
    }
    shown_labs.push_back({{"lab", lab.lab},
                          {"summary", fmt::format("{}, {} compared; {} with something in common, of which {} shown.",
                                                  counted(lab.hand_ins.size(), "hand-in"),
                                                  counted(lab.num_pairs, "pair"), lab.pairs.size(), pairs.size())},
                          {"has_pairs", !pairs.empty()},
                          {"pairs", pairs}});
  }
  const Json values = {{"summary", fmt::format("{} to look at, most similar first.", counted(num_notable, "pair"))},
                       {"not_shown", what_a_match_does_not_show()},
                       {"labs", shown_labs},
                       {"has_problems", !not_compared.empty()},
                       {"problems", not_compared},
                       {"method", describe_method(limits)}};
  return page::html_page("Similar hand-ins", embedded::kSimilarMustache, values);
}

}  // namespace lab::grading
