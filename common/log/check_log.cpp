#include "common/log/check_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/files.h"
#include "common/base/text.h"
#include "common/log/expected_line.h"
#include "common/log/log_lines.h"
#include "common/log/plain_log.h"

namespace lab::log {
namespace {

constexpr std::size_t kMostShown = 10;               // problems: the rest usually follows from the first ones
constexpr std::size_t kMostBytesShown = 1000;        // of a problem: a line of a log may have any length
constexpr std::size_t kMostBytes = 4 * 1024 * 1024;  // of a log: the VAE's has 500 KB on 64 ranks

std::string shown(const std::string& path) {
  return path == "-" ? "standard input" : one_line(safe_text(path, kMostBytesShown));
}

std::string read_log(const std::string& path) {
  const UniqueFd file(path == "-" ? ::dup(0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto refuse = [&](const std::string& reason) {
    throw UsageError(
        fmt::format("check-log: cannot read {}: {}; expected the log of a run, or -", shown(path), reason));
  };
  if (file.get() < 0) refuse(std::strerror(errno));
  struct stat found {};
  if (::fstat(file.get(), &found) == 0 && S_ISDIR(found.st_mode)) {
    const std::string folder = path == "-" ? "FOLDER" : shown(path.substr(0, path.find_last_not_of('/') + 1));
    throw UsageError(
        fmt::format("check-log: cannot read {}: it is a folder; expected the log of a run, such as "
                    "{}/NAME.log, or -",
                    shown(path), folder));
  }
  std::string text;
  std::array<char, 1 << 16> part;
  while (true) {
    const ssize_t count = ::read(file.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse(std::strerror(errno));
    if (count == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
    if (text.size() > kMostBytes) refuse("it has more than 4 MiB");
  }
}

}  // namespace

ExitCode check_log_file(const std::string& path, const std::string& program, const LogExpectation& expectation) {
  const std::optional<std::string> text = plain_log(read_log(path));
  if (!text) throw UsageError(fmt::format("check-log: {}: it is not text; expected the log of a run", shown(path)));
  const std::vector<std::string> problems = check_log(*text, expectation, program);
  const std::string name = path == "-" ? path : shown(path);
  for (std::size_t i = 0; i < std::min(problems.size(), kMostShown); ++i)
    fmt::print("{}: {}\n", name, safe_text(problems[i], kMostBytesShown));
  if (problems.size() > kMostShown)
    fmt::print("{}: and {}\n", name, counted(problems.size() - kMostShown, "more problem"));
  if (!problems.empty()) return ExitCode::kMismatch;
  fmt::print("{}: accepted: exactly the lines of a right run on {}\n", name, counted(expectation.num_ranks(), "rank"));
  return ExitCode::kAllMatch;
}

namespace {

struct LogProblem {
  std::size_t line_number = 0;  ///< where a reader should look
  std::string message;          ///< begins with "line N: "
};

/// The alignment compares every pair of lines, so in a long log only this many lines after the first difference are
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
    // After the last pair of a clipped part, a line's partner may lie beyond it.
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

  /// Index of an expected line that accepts the text; expected_.size() if there is none.
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

/// Compares one rank's lines with the expected ones. Empty exactly when both have the same length and every line
/// is accepted in its place; otherwise the longest common part is found first, so that one missing line is one problem.
std::vector<LogProblem> align_rank(int rank, const std::vector<ExpectedLine>& expected,
                                   const std::vector<LogLine>& actual) {
  return Alignment(rank, expected, actual).run();
}

/// Why the text as a whole is not a log; empty if it may be one.
std::string problem_with_file(std::string_view text) {
  if (text.empty()) return "the log is empty; expected the output of a run";
  const auto make_line = [text](std::size_t at) { return 1 + std::count(text.begin(), text.begin() + at, '\n'); };
  const std::size_t carriage = text.find("\r\n");
  if (carriage != std::string_view::npos) {
    return fmt::format(
        "line {}: ends in a carriage return (Windows line end); convert the log with: sed -i 's/\\r$//' FILE",
        make_line(carriage));
  }
  const auto control = std::find_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f;
  });
  if (control != text.end()) {
    return fmt::format("line {}: holds a control character (code {}); expected plain text",
                       make_line(static_cast<std::size_t>(control - text.begin())), static_cast<int>(*control));
  }
  if (text.back() != '\n') {
    return fmt::format("line {}: has no line end, so the log is cut off; expected every line to be whole",
                       make_line(text.size()));
  }
  return "";
}

std::string problem_with_owner(std::string_view line, const std::optional<int>& rank, int num_ranks) {
  if (num_rank_marks(line) > 1) return fmt::format("two lines run together: \"{}\"", line);
  if (!rank) return fmt::format("unknown line \"{}\"; expected one that begins with [Rank r] or [name][Rank r]", line);
  if (*rank >= num_ranks) {
    return fmt::format("rank {} is not one of the {}; was the run started with --nproc {}?", *rank,
                       counted(num_ranks, "rank"), num_ranks);
  }
  return "";
}

/// What a right run says on stderr: "a4_data_tensor: rank 0 of 4, as told by Slurm", the shares of the ranks' work, and
/// how far it is ("Pipeline: 240 of 480 after 10 s"). The name may have a command behind it: "optC_model_parallel tensor:".
bool is_remark(std::string_view line, const std::string& program) {
  if (program.empty() || num_rank_marks(line) > 0) return false;
  const auto has = [line](std::string_view part) { return line.find(part) != line.npos; };
  const std::string name = program.substr(0, program.find(' '));
  if (has(name + ": ") || (has(name + " ") && has(": "))) return !has(": error: ") && !has(": internal error: ");
  return (has("  ") && has(" | waiting ")) || (has(": ") && has(" of ") && has(" after ") && has(" s"));
}

}  // namespace

std::vector<std::string> check_log(std::string_view text, const LogExpectation& expectation,
                                   const std::string& program) {
  if (std::string problem = problem_with_file(text); !problem.empty()) return {std::move(problem)};

  std::vector<LogProblem> problems;
  const auto num_ranks = static_cast<std::size_t>(expectation.num_ranks());
  std::vector<std::vector<LogLine>> per_rank(num_ranks);
  for (const LogLine& line : split_lines(text)) {
    const std::optional<int> rank = rank_of_line(line.text);
    if (!rank && is_remark(line.text, program)) continue;
    const std::string problem = problem_with_owner(line.text, rank, expectation.num_ranks());
    if (problem.empty()) {
      per_rank[static_cast<std::size_t>(*rank)].push_back(line);
    } else {
      problems.push_back({line.number, fmt::format("line {}: {}", line.number, problem)});
    }
  }

  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    const std::vector<ExpectedLine>& expected = expectation.per_rank[rank];
    if (per_rank[rank].empty() && !expected.empty()) {
      problems.push_back({0, fmt::format("rank {}: printed nothing; expected {} lines, the first being {}", rank,
                                         expected.size(), describe(expected.front(), static_cast<int>(rank)))});
      continue;
    }
    const std::vector<LogProblem> own = align_rank(static_cast<int>(rank), expected, per_rank[rank]);
    problems.insert(problems.end(), own.begin(), own.end());
  }

  std::stable_sort(problems.begin(), problems.end(),
                   [](const LogProblem& a, const LogProblem& b) { return a.line_number < b.line_number; });
  std::vector<std::string> messages;
  for (LogProblem& problem : problems) messages.push_back(std::move(problem.message));
  return messages;
}

}  // namespace lab::log
