#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lab {

/// A log that must be refused.
struct LogMutation {
  std::string what;  ///< "line 3 deleted": for the test's message
  std::string text;
};

/// Every small way to break a correct log, for testing a lab's expectation: each line in turn deleted, duplicated, cut
/// in two, given to another rank, run into its neighbour; each verdict flipped; each figure made nan, too large or
/// inconsistent; each letter of each text line changed; every two neighbouring lines of one rank swapped; the file cut
/// off, emptied, or given Windows line ends. Left out are changes that may be correct: a True line's figures within
/// their bound, the digits of a text line (a field may stand for them), the reason of a skipped line, a swap of two
/// lines that differ only in digits.
/// Example   for (const LogMutation& mutation : log_mutations(log)) {
///             INFO(mutation.what);
///             CHECK(!check_log(mutation.text, expectation).empty());
///           }
std::vector<LogMutation> log_mutations(std::string_view text);

}  // namespace lab
