#include "common/testing/log_mutations.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "common/log/log_lines.h"
#include "common/log/match_line.h"

namespace lab {
namespace {

using Lines = std::vector<std::string>;

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string without_digits(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; }),
             text.end());
  return text;
}

/// Two lines that a swap may leave correct: the same check with the same verdict, or texts that differ only in digits.
bool look_alike(const std::string& a, const std::string& b) {
  const std::optional<log::MatchLine> match_a = log::parse_match_line(a);
  const std::optional<log::MatchLine> match_b = log::parse_match_line(b);
  if (match_a && match_b) return match_a->prefix == match_b->prefix && match_a->match == match_b->match;
  return without_digits(a) == without_digits(b);
}

class Mutator {
 public:
  explicit Mutator(std::string_view text) {
    for (const log::LogLine& line : log::split_lines(text)) lines_.emplace_back(line.text);
  }

  std::vector<LogMutation> run() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      move_lines(i);
      change_rank(i);
      if (const std::optional<log::MatchLine> line = log::parse_match_line(lines_[i])) {
        falsify(i, *line);
      } else {
        change_letters(i);
      }
    }
    swap_within_ranks();
    spoil_file();
    return std::move(mutations_);
  }

 private:
  void add(const std::string& what, const Lines& lines) { mutations_.push_back({what, joined(lines)}); }

  void replace(std::size_t i, const std::string& how, const std::string& line) {
    Lines lines = lines_;
    lines[i] = line;
    add("line " + std::to_string(i + 1) + " " + how + ": " + line, lines);
  }

  void move_lines(std::size_t i) {
    const std::string name = "line " + std::to_string(i + 1);
    const auto at = static_cast<Lines::difference_type>(i);
    Lines lines = lines_;
    lines.erase(lines.begin() + at);
    add(name + " deleted", lines);

    lines = lines_;
    lines.insert(lines.begin() + at, lines_[i]);
    add(name + " duplicated", lines);

    lines = lines_;
    lines.push_back(lines_[i]);
    add(name + " repeated at the end", lines);

    lines = lines_;
    const std::size_t half = lines_[i].size() / 2;
    lines[i] = lines_[i].substr(0, half);
    lines.insert(lines.begin() + at + 1, lines_[i].substr(half));
    add(name + " cut in two", lines);

    if (i + 1 == lines_.size()) return;
    lines = lines_;
    lines[i] += lines[i + 1];
    lines.erase(lines.begin() + at + 1);
    add(name + " run into the next", lines);

    lines = lines_;
    lines[i] = lines_[i].substr(0, half) + lines_[i + 1];
    lines[i + 1] = lines_[i].substr(half);
    add(name + " interrupted by the next", lines);
  }

  void change_rank(std::size_t i) {
    const std::optional<int> rank = log::rank_of_line(lines_[i]);
    if (!rank) return;
    const std::string mark = "Rank " + std::to_string(*rank);
    for (const int other : {*rank + 1, *rank - 1, 4095}) {
      if (other < 0) continue;
      std::string line = lines_[i];
      replace(i, "given to another rank", line.replace(line.find(mark), mark.size(), "Rank " + std::to_string(other)));
    }
  }

  void falsify(std::size_t i, const log::MatchLine& right) {
    const auto with = [&](const std::string& how, const auto& change) {
      log::MatchLine line = right;
      change(line);
      if (format(line) != lines_[i]) replace(i, how, format(line));
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double inf = std::numeric_limits<double>::infinity();
    with("flipped", [](log::MatchLine& line) { line.match = !line.match; });
    with("max nan", [nan](log::MatchLine& line) { line.max_diff = nan; });
    with("max inf", [inf](log::MatchLine& line) { line.max_diff = inf; });
    with("mean nan", [nan](log::MatchLine& line) { line.mean_diff = nan; });
    with("mean above max", [](log::MatchLine& line) { line.mean_diff = 2.0 * line.max_diff + 1.0; });
    with("mean 0", [](log::MatchLine& line) { line.mean_diff = line.max_diff > 0.0 ? 0.0 : line.mean_diff; });
    if (right.match) {
      with("max and mean too large", [](log::MatchLine& line) { line.max_diff = line.mean_diff = 1e30; });
    } else {
      with("max and mean 0", [](log::MatchLine& line) { line.max_diff = line.mean_diff = 0.0; });
    }
    with("other prefix", [](log::MatchLine& line) { line.prefix += "X"; });
    replace(i, "figure with one digit less", lines_[i].substr(0, lines_[i].size() - 1));
    replace(i, "with a trailing space", lines_[i] + " ");
  }

  void change_letters(std::size_t i) {
    // The reason of a skipped line may be any.
    const std::size_t reason = log::parse_skipped_line(lines_[i]) ? lines_[i].find("skipped: ") + 9 : lines_[i].size();
    for (std::size_t at = 0; at < reason; ++at) {
      if (std::isdigit(static_cast<unsigned char>(lines_[i][at])) != 0) continue;
      std::string line = lines_[i];
      line[at] = line[at] == 'q' ? 'r' : 'q';
      replace(i, "with another letter", line);
    }
    if (reason == lines_[i].size()) replace(i, "with a trailing space", lines_[i] + " ");
  }

  void swap_within_ranks() {
    std::map<int, std::size_t> last_of_rank;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::optional<int> rank = log::rank_of_line(lines_[i]);
      if (!rank) continue;
      const auto last = last_of_rank.find(*rank);
      if (last != last_of_rank.end() && !look_alike(lines_[last->second], lines_[i])) {
        Lines lines = lines_;
        std::swap(lines[last->second], lines[i]);
        add("lines " + std::to_string(last->second + 1) + " and " + std::to_string(i + 1) + " swapped", lines);
      }
      last_of_rank[*rank] = i;
    }
  }

  void spoil_file() {
    const std::string right = joined(lines_);
    mutations_.push_back({"emptied", ""});
    mutations_.push_back({"last line end cut off", right.substr(0, right.size() - 1)});
    mutations_.push_back({"cut off in its last line", right.substr(0, right.size() - 5)});
    std::string windows;
    for (const std::string& line : lines_) windows += line + "\r\n";
    mutations_.push_back({"given Windows line ends", windows});
    mutations_.push_back({"given a blank line", right + "\n"});
    mutations_.push_back({"given a foreign line", "warning: something else\n" + right});
  }

  Lines lines_;
  std::vector<LogMutation> mutations_;
};

}  // namespace

std::vector<LogMutation> log_mutations(std::string_view text) {
  return Mutator(text).run();
}

}  // namespace lab
