#pragma once

#include <string>
#include <string_view>
#include <variant>

// One line that a log must hold, and what may be wrong with the line found in its place.
namespace lab::log {

/// A whole line of text, with the fields of a template (line_template.h); {rank} stands for the number of the rank.
/// Example   {"[Distributed Init] Rank {rank} initialized on {node} on {device} {index}."}
struct ExpectedText {
  std::string text;

  friend bool operator==(const ExpectedText& a, const ExpectedText& b) { return a.text == b.text; }
};

/// The line that Printer::text() prints on a rank.
/// Example   rank_text("done") is {"[Rank {rank}] done"}
ExpectedText rank_text(std::string_view line_template);

/// A match line. True: both figures finite, mean <= max <= max_bound. False: max above 0 and finite. A figure given in
/// exact_max or exact_mean must match digit for digit.
struct ExpectedMatch {
  std::string prefix;
  bool match = true;
  double max_bound = 1e-6;
  std::string exact_max;  ///< "1.193051e-01"; empty: any within the rules above
  std::string exact_mean;

  friend bool operator==(const ExpectedMatch& a, const ExpectedMatch& b) {
    const bool same_bound = !a.match || a.max_bound == b.max_bound;  // that of a False line means nothing
    return a.prefix == b.prefix && a.match == b.match && same_bound && a.exact_max == b.exact_max &&
           a.exact_mean == b.exact_mean;
  }
};

/// A skipped line; an empty reason matches any.
struct ExpectedSkip {
  std::string prefix;
  std::string reason;

  friend bool operator==(const ExpectedSkip& a, const ExpectedSkip& b) {
    return a.prefix == b.prefix && a.reason == b.reason;
  }
};

using ExpectedLine = std::variant<ExpectedText, ExpectedMatch, ExpectedSkip>;

/// What is wrong with the text as this line of this rank, such as "expected True, got False"; empty: nothing.
std::string problem_with(const ExpectedLine& expected, int rank, std::string_view text);

/// True if the text is an attempt at this line: the line itself, or the same check with another verdict or figures.
bool resembles(const ExpectedLine& expected, int rank, std::string_view text);

/// The expected line for messages, in quotes.
std::string describe(const ExpectedLine& expected, int rank);

}  // namespace lab::log
