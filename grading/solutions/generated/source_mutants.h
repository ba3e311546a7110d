#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grading/solutions/solution_table.h"
#include "grading/tokens/tokens.h"

namespace lab::grading::generated {

/// What a row changes in one student file.
struct SourceMutant {
  struct Edit {
    std::size_t at = 0, size = 0;  ///< bytes that are replaced
    std::string with;
  };
  int id = 0;             ///< 1, 2, ...: of its row in the lab
  std::string file;       ///< "student/broadcast/flat.cpp"
  int line = 0;           ///< of the file
  std::string line_text;  ///< that line, without the spaces around it
  std::string task;       ///< between whose markers it begins; empty: none's
  std::string rule;
  std::string what;
  std::vector<Edit> edits;  ///< in the file's order
};

constexpr int kLinesOfMutant = 1000;  ///< more than any function has

/// A row with its id, and what it changes in one file.
struct NumberedRow {
  int id = 0;
  const Solution* solution = nullptr;
  std::vector<SourceChange> changes;
};

/// A student file with its mutants.
class MutatedSource {
 public:
  /// A text to replace is looked for between the markers of the row's task, then of the others, then everywhere.
  /// Errors    UsageError: it is not there, or not once, or in no function; two changes of a row overlap
  MutatedSource(const std::string& file, const std::string& text, const std::set<std::string>& tasks,
                const std::vector<NumberedRow>& rows);
  MutatedSource(const MutatedSource&) = delete;
  MutatedSource& operator=(const MutatedSource&) = delete;

  const std::string& file() const { return file_; }
  const std::vector<SourceMutant>& mutants() const { return mutants_; }

  /// The file with one mutant, as somebody would write it.
  std::string plain(const SourceMutant& mutant) const;
  /// The file with all of these mutants: each function has a body for each of them, chosen when it is called by
  /// `int lab_mutant(ids)`, which returns the id of the one that this process runs, if it is among them, or 0. What the
  /// compiler says about a mutant is in the file "mutant", from line id * kLinesOfMutant on; all else keeps its line.
  std::string schemata(const std::vector<const SourceMutant*>& some) const;

 private:
  /// Tokens of the { and } around the outermost function that holds a byte; none: it is in no function.
  std::optional<std::pair<std::size_t, std::size_t>> function_at(std::size_t byte) const;
  SourceMutant::Edit make_edit(const Solution& row, const SourceChange& change,
                               const std::set<std::string>& tasks) const;
  SourceMutant make_mutant(const NumberedRow& row, const std::set<std::string>& tasks) const;

  std::string file_;
  TokenizedText text_;
  std::vector<SourceMutant> mutants_;
};

}  // namespace lab::grading::generated
