#include "grading/similarity/similarity_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/base/files.h"
#include "common/base/text.h"
#include "common/page/html_page.h"
#include "embedded/grading/similarity/pages.h"

namespace lab::grading {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kNumColours = 6;
// Of a lab. In a class with more, the limits are wrong, or everybody has the same.
constexpr std::size_t kMostPages = 100, kMostRows = 100;

/// A run of one file, by its bytes.
struct Mark {
  std::size_t begin = 0, end = 0, number = 0;  ///< the number begins at 1
};

std::string percent(double share) {
  return fmt::format("{:.0f}", 100 * share);
}

/// The code as a page shows it: marks of direction and other controls, which could make it look like other code, are
/// visible.
std::string shown_code(const std::string& code) {
  std::string text = code;
  text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
  return safe_text(text, text.size());
}

/// The first byte from `at` on that begins a character.
std::size_t next_character(const std::string& text, std::size_t at) {
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  return at;
}

Json pieces_of(const std::string& text, std::vector<Mark> marks, char side) {
  std::sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.begin < b.begin; });
  Json pieces = Json::array();
  std::size_t at = 0;
  const auto add = [&](std::size_t end, const Mark* mark) {
    if (end <= at) return;
    Json piece = {{"text", shown_code(text.substr(at, end - at))}, {"number", false}};
    if (mark != nullptr) {
      piece["number"] = std::to_string(mark->number);
      piece["colour"] = mark->number % kNumColours;
      piece["id"] = fmt::format("{}{}", side, mark->number);
      piece["other"] = fmt::format("{}{}", side == 'a' ? 'b' : 'a', mark->number);
    }
    pieces.push_back(piece);
    at = end;
  };
  for (const Mark& mark : marks) {
    add(next_character(text, mark.begin), nullptr);
    add(next_character(text, mark.end), &mark);
  }
  add(text.size(), nullptr);
  return pieces;
}

/// `place` says where a span begins on this side.
Json side_of(const PlannedHandIn& hand_in, const ComparedCode& code, const std::vector<MatchingSpan>& spans, char side,
             CodePlace MatchingSpan::*place) {
  Json files = Json::array();
  for (std::size_t i = 0; i < code.files.size(); ++i) {
    const NormalFile& file = code.files[i];
    std::vector<Mark> marks;
    for (std::size_t number = 1; number <= spans.size(); ++number) {
      const MatchingSpan& span = spans[number - 1];
      const CodePlace begin = span.*place;
      if (begin.file == i)
        marks.push_back({file.tokens[begin.token].begin, file.tokens[begin.token + span.num_tokens - 1].end, number});
    }
    files.push_back({{"name", file.name}, {"open", !marks.empty()}, {"pieces", pieces_of(file.text, marks, side)}});
  }
  return {{"label", shown_student(hand_in)}, {"files", files}};
}

std::string summary_of(const LabSimilarity& lab, const SimilarPair& pair) {
  return fmt::format(
      "{}: {} % of what {} wrote ({} tokens, handed in as {}) and {} % of what {} wrote ({} tokens, {}) is also in "
      "the "
      "other.",
      lab.lab, percent(pair.share_of_first), shown_student(*lab.hand_ins[pair.first]),
      lab.codes[pair.first].num_own_tokens(), lab.hand_ins[pair.first]->hand_in.shown, percent(pair.share_of_second),
      shown_student(*lab.hand_ins[pair.second]), lab.codes[pair.second].num_own_tokens(),
      lab.hand_ins[pair.second]->hand_in.shown);
}

Json row_of(const LabSimilarity& lab, const SimilarPair& pair, const std::string& page) {
  Json row = {
      {"first", shown_student(*lab.hand_ins[pair.first])}, {"second", shown_student(*lab.hand_ins[pair.second])},
      {"first_percent", percent(pair.share_of_first)},     {"second_percent", percent(pair.share_of_second)},
      {"fingerprints", std::to_string(pair.fingerprints)}, {"page", false}};
  if (!page.empty()) row["page"] = page;
  return row;
}

std::string method_of(const SimilarityLimits& limits) {
  return fmt::format(
      "By winnowing over the tokens of each lab's student files: names, types, comments, formatting and the order "
      "of "
      "functions do not matter. What the starter has is left out; what more than {:.0f} % of the hand-ins have, "
      "and "
      "more "
      "than {:.0f}, counts for less. A pair has a page if {} % of what one of them wrote, and {} fingerprints, are "
      "also in the other. Hand-ins with a student in common are not compared.",
      100 * limits.common_share, limits.common_hand_ins, percent(limits.share), limits.fingerprints);
}

/// Removes the pages of an earlier comparison, and nothing else.
void remove_pages(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    std::error_code ignored;
    if (name.rfind("pair_", 0) == 0 && entry.path().extension() == ".html")
      std::filesystem::remove(entry.path(), ignored);
  }
}

}  // namespace

std::string pair_page(const LabSimilarity& lab, const SimilarPair& pair) {
  const ComparedCode& first = lab.codes[pair.first];
  const ComparedCode& second = lab.codes[pair.second];
  const PlannedHandIn& first_hand_in = *lab.hand_ins[pair.first];
  const PlannedHandIn& second_hand_in = *lab.hand_ins[pair.second];
  const std::vector<MatchingSpan> spans = matching_spans(first, second);
  Json runs = Json::array();
  for (std::size_t number = 1; number <= spans.size(); ++number) {
    const MatchingSpan& span = spans[number - 1];
    runs.push_back({{"number", std::to_string(number)},
                    {"colour", number % kNumColours},
                    {"tokens", span.num_tokens},
                    {"first_place", shown_place(first, span.first, span.num_tokens)},
                    {"second_place", shown_place(second, span.second, span.num_tokens)}});
  }
  const std::string title =
      fmt::format("{} and {}: {}", shown_student(first_hand_in), shown_student(second_hand_in), lab.lab);
  return page::html_page(
      title, embedded::kSimilarPairMustache,
      {{"title", title},
       {"summary", summary_of(lab, pair)},
       {"not_shown", what_a_match_does_not_show()},
       {"first", shown_student(first_hand_in)},
       {"second", shown_student(second_hand_in)},
       {"runs", runs},
       {"sides", Json::array({side_of(first_hand_in, first, spans, 'a', &MatchingSpan::first),
                              side_of(second_hand_in, second, spans, 'b', &MatchingSpan::second)})}});
}

std::string write_similarity_pages(const std::string& out, const std::vector<LabSimilarity>& labs,
                                   const SimilarityLimits& limits, const std::vector<std::string>& not_compared) {
  const std::string folder = out + "/similarity";
  make_folder("--out", folder);
  remove_pages(folder);
  Json shown_labs = Json::array();
  std::size_t num_pages = 0, num_notable = 0;
  for (const LabSimilarity& lab : labs) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < lab.pairs.size(); ++i) {
      const SimilarPair& pair = lab.pairs[i];
      std::string page;
      if (pair.is_notable(limits)) ++num_notable;
      if (pair.is_notable(limits) && i < kMostPages) {
        page = fmt::format("pair_{}.html", ++num_pages);
        write_file_atomically(folder + "/" + page, pair_page(lab, pair));
      }
      if (i < kMostRows) rows.push_back(row_of(lab, pair, page));
    }
    shown_labs.push_back({{"lab", lab.lab},
                          {"summary", fmt::format("{}, {} compared; {} with something in common, of which {} shown.",
                                                  counted(lab.hand_ins.size(), "hand-in"),
                                                  counted(lab.num_pairs, "pair"), lab.pairs.size(), rows.size())},
                          {"has_pairs", !rows.empty()},
                          {"pairs", rows}});
  }
  const Json values = {
      {"summary", fmt::format("{} to look at, most similar first{}.", counted(num_notable, "pair"),
                              num_notable > num_pages ? fmt::format("; {} have a page", num_pages) : "")},
      {"not_shown", what_a_match_does_not_show()},
      {"labs", shown_labs},
      {"has_problems", !not_compared.empty()},
      {"problems", not_compared},
      {"method", method_of(limits)}};
  write_file_atomically(folder + "/index.html",
                        page::html_page("Similar hand-ins", embedded::kSimilarIndexMustache, values));
  return folder + "/index.html";
}

}  // namespace lab::grading
