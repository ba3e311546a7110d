#include "common/report/log_alignment.h"

#include <fmt/format.h>

#include <algorithm>

namespace lab {
namespace {

/// The alignment compares every pair of lines, so of a long log only this many after the first difference are
/// explained.
constexpr std::size_t kMaxExplained = 400;

class Alignment {
 public:
  Alignment(int rank, const std::vector<ExpectedLine>& expected, const std::vector<LogLine>& actual)
      : rank_(rank), expected_(expected), actual_(actual) {}

  std::vector<LogProblem> run() {
    while (first_ < std::min(expected_.size(), actual_.size()) && accepts(first_, first_)) ++first_;
    expected_end_ = expected_.size();
    actual_end_ = actual_.size();
    if (first_ == expected_end_ && first_ == actual_end_) return {};
    while (first_ < std::min(expected_end_, actual_end_) && accepts(expected_end_ - 1, actual_end_ - 1)) {
      --expected_end_;
      --actual_end_;
    }
    clipped_ = std::max(expected_end_, actual_end_) - first_ > kMaxExplained;
    expected_end_ = std::min(expected_end_, first_ + kMaxExplained);
    actual_end_ = std::min(actual_end_, first_ + kMaxExplained);
    score_pairs();
    walk();
    return std::move(problems_);
  }

 private:
  bool accepts(std::size_t e, std::size_t a) const {
    return problem_with(expected_[e], rank_, actual_[a].text).empty();
  }

  int pair_score(std::size_t e, std::size_t a) const {
    if (accepts(e, a)) return 3;
    return resembles(expected_[e], rank_, actual_[a].text) ? 2 : 0;
  }

  /// best(e, a): highest total score of pairing expected lines from e on with actual lines from a on, in order.
  int& best(std::size_t e, std::size_t a) { return best_[(e - first_) * (actual_end_ - first_ + 1) + (a - first_)]; }

  void score_pairs() {
    best_.assign((expected_end_ - first_ + 1) * (actual_end_ - first_ + 1), 0);
    for (std::size_t e = expected_end_; e-- > first_;) {
      for (std::size_t a = actual_end_; a-- > first_;) {
        best(e, a) = std::max({best(e + 1, a), best(e, a + 1), best(e + 1, a + 1) + pair_score(e, a)});
      }
    }
  }

  /// Follows the best pairing; the lines between two pairs form a gap.
  void walk() {
    std::size_t e = first_;
    std::size_t a = first_;
    std::size_t gap_e = e;
    std::size_t gap_a = a;
    while (e < expected_end_ && a < actual_end_) {
      const int score = pair_score(e, a);
      if (score > 0 && best(e, a) == best(e + 1, a + 1) + score) {
        explain_gap(gap_e, e, gap_a, a);
        if (score < 3) add(actual_[a].number, problem_with(expected_[e], rank_, actual_[a].text));
        gap_e = ++e;
        gap_a = ++a;
      } else if (best(e, a) == best(e + 1, a)) {
        ++e;
      } else {
        ++a;
      }
    }
    // Behind the last pair of a clipped part, a line's partner may lie beyond it.
    if (!clipped_ || problems_.empty()) explain_gap(gap_e, expected_end_, gap_a, actual_end_);
  }

  void explain_gap(std::size_t e, std::size_t e_end, std::size_t a, std::size_t a_end) {
    for (; a < a_end; ++a) {
      const LogLine& line = actual_[a];
      const std::size_t owner = accepting_line(line.text);
      if (owner < expected_.size()) {
        const bool again = std::any_of(actual_.begin(), actual_.end(), [&](const LogLine& other) {
          return &other != &line && problem_with(expected_[owner], rank_, other.text).empty();
        });
        add(line.number, fmt::format("{}: \"{}\"", again ? "duplicated line" : "out of order", line.text));
      } else if (e < e_end) {
        add(line.number, problem_with(expected_[e], rank_, line.text));
        ++e;
      } else {
        add(line.number, fmt::format("unexpected line \"{}\"", line.text));
      }
    }
    const std::size_t near = a < actual_.size() ? actual_[a].number : (actual_.empty() ? 0 : actual_.back().number + 1);
    for (; e < e_end; ++e) add(near, "missing before here: " + describe(expected_[e], rank_));
  }

  /// Index of an expected line that the text would be right for; expected_.size() when there is none.
  std::size_t accepting_line(std::string_view text) const {
    for (std::size_t e = 0; e < expected_.size(); ++e) {
      if (problem_with(expected_[e], rank_, text).empty()) return e;
    }
    return expected_.size();
  }

  void add(std::size_t line_number, const std::string& what) {
    problems_.push_back({line_number, fmt::format("line {}: rank {}: {}", line_number, rank_, what)});
  }

  int rank_;
  const std::vector<ExpectedLine>& expected_;
  const std::vector<LogLine>& actual_;
  std::size_t first_ = 0;         ///< every line before this one is right
  std::size_t expected_end_ = 0;  ///< from here on lines are right, or not explained
  std::size_t actual_end_ = 0;
  bool clipped_ = false;
  std::vector<int> best_;
  std::vector<LogProblem> problems_;
};

}  // namespace

std::vector<LogProblem> align_rank(int rank, const std::vector<ExpectedLine>& expected,
                                   const std::vector<LogLine>& actual) {
  return Alignment(rank, expected, actual).run();
}

}  // namespace lab
