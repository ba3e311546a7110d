#include <fmt/format.h>

#include <algorithm>

#include "common/api/errors.h"
#include "common/cli/guarded_main.h"
#include "common/course/audit/symbol_audit.h"

// labaudit RULES FILE...: what compiled student code refers to and must not, a line for each. Apart from labcourse, so
// that what reads a hand-in's objects in the judge's sandbox is small.
int main(int argc, char** argv) {
  return lab::cli::guarded_main(argc, argv, [](int num_words, char** words) {
    if (num_words < 3) throw lab::UsageError("expected the folder of the rules, and objects or archives");
    const auto offences = lab::audit_symbols(words[1], {words + 2, words + num_words});
    for (const lab::SymbolOffence& offence : offences) fmt::print("{}\n", offence.text());
    const bool clean = std::all_of(offences.begin(), offences.end(), [](const lab::SymbolOffence& offence) {
      return offence.kind == lab::SymbolOffence::Kind::kNoted;
    });
    return clean ? lab::ExitCode::kAllMatch : lab::ExitCode::kMismatch;
  });
}
