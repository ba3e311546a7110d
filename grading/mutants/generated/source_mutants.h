#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "grading/mutants/generated/region.h"

namespace lab::grading::generated {

/// A mutant of one student file.
struct SourceMutant {
  int id = 0;             ///< 1, 2, ...: unique in its lab
  std::string file;       ///< "student/broadcast/flat.cpp"
  int line = 0;           ///< of the file
  std::string line_text;  ///< that line, without the spaces around it
  std::string task;       ///< of the region
  std::string rule;
  std::string what;
  std::size_t region = 0;  ///< of the file
  std::vector<Edit> edits;
};

/// A change that somebody has written down: code that is once between the markers of a file.
struct WrittenChange {
  std::string task;  ///< between whose markers; empty: any task's
  std::string replace, with;
  std::string what;   ///< "broadcast.h: Aliasing in place"
  std::string place;  ///< where it is written down
};

constexpr char kWrittenRule[] = "contract";  ///< SourceMutant::rule of a written change

constexpr int kLinesOfMutant = 100;  ///< more than any has

/// A student file, cut up, with its mutants.
class MutatedSource {
 public:
  /// Mutants are numbered from `first_id`, the written ones first. Equal ones, whatever the rule, are made once; none
  /// leaves the text as it is.
  /// Errors    UsageError: the text cannot be cut into statements; a written change is not once between the markers, or
  ///           where it cannot be chosen at run time
  MutatedSource(const std::string& file, const std::string& text, const std::set<std::string>& tasks, int first_id,
                const std::vector<WrittenChange>& written = {});
  MutatedSource(const MutatedSource&) = delete;
  MutatedSource& operator=(const MutatedSource&) = delete;

  const std::string& file() const { return file_; }
  const std::vector<SourceMutant>& mutants() const { return mutants_; }

  /// First and last line of what the mutant's edits replace.
  std::pair<int, int> lines_of_edits(const SourceMutant& mutant) const;

  /// The file with one mutant, as somebody would write it.
  std::string plain(const SourceMutant& mutant) const;
  /// The file with all of these mutants, each chosen at run time by its id: `bool lab_mutant(int id)` says which. With
  /// none chosen it does what the original does. What the compiler says about a mutant is in the file "mutant", from
  /// line id * kLinesOfMutant on; all else keeps its line.
  std::string schemata(const std::vector<const SourceMutant*>& some) const;

 private:
  void add(std::size_t region, const std::string& rule, Proposal proposal);
  void add_written(const WrittenChange& change);

  std::string file_;
  TokenizedText text_;
  std::vector<Region> regions_;
  int first_id_;
  std::set<std::string> made_;  ///< texts of the mutants
  std::vector<SourceMutant> mutants_;
};

}  // namespace lab::grading::generated
