#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grading/tokens/tokens.h"

namespace lab::grading::generated {

/// A row of a table of solutions: what is replaced in a file of the reference.
struct SolutionRow {
  std::string file;               ///< "a9_collectives/student/broadcast/flat.cpp"
  std::string task;               ///< between whose markers; empty: any task's
  std::string rule;               ///< "rank"; kContractRule
  std::string what;               ///< "p2p.rank() -> 0"
  std::optional<std::size_t> at;  ///< the replaced text's first byte in the file; none: it is there once
  std::string replace, with;
  std::string place;  ///< where the row is: "rows.toml:12"
};

constexpr char kContractRule[] = "contract";  ///< breaks a sentence of a header

/// Reads a table of solutions; grading/mutants/README.md has its form.
/// Errors    UsageError: what is wrong, and where
std::vector<SolutionRow> load_rows(const std::string& path);

/// A mutant of one student file: a row that fits it.
struct SourceMutant {
  int id = 0;             ///< 1, 2, ...: unique in its lab
  std::string file;       ///< "student/broadcast/flat.cpp"
  int line = 0;           ///< of the file
  std::string line_text;  ///< that line, without the spaces around it
  std::string task;       ///< between whose markers it is
  std::string rule;
  std::string what;
  std::size_t at = 0, size = 0;  ///< bytes that are replaced
  std::string with;
};

constexpr int kLinesOfMutant = 1000;  ///< more than any function has

/// A student file with its mutants.
class MutatedSource {
 public:
  /// `rows` are with their mutants' ids.
  /// Errors    UsageError: the text to replace is not there, or not once, or not between the markers of the row's task,
  ///           or in no function
  MutatedSource(const std::string& file, const std::string& text, const std::set<std::string>& tasks,
                const std::vector<std::pair<int, SolutionRow>>& rows);
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
  SourceMutant mutant_of(const SolutionRow& row, const std::set<std::string>& tasks) const;

  std::string file_;
  TokenizedText text_;
  std::vector<SourceMutant> mutants_;
};

}  // namespace lab::grading::generated
