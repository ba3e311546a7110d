#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lab::grading {

/// What is replaced in a file of the reference.
struct SourceChange {
  std::string file;               ///< "a9_collectives/student/broadcast/flat.cpp"
  int part = 0;                   ///< all between the task's n-th markers of the file is replaced; 0: `replace` is
  std::optional<std::size_t> at;  ///< the replaced text's first byte in the file; none: it is there once
  std::string replace, with;
};

/// A row of a table: a wrong or a right solution, as what it changes in the reference.
struct Solution {
  std::string name;                 ///< "mean_for_sum"; empty: its place says which
  std::string task;                 ///< that must lose marks; empty: the one between whose markers it changes something
  std::vector<std::string> also;    ///< further tasks that may lose marks although they do not need `task`
  std::vector<std::string> checks;  ///< the checks of `task` that must be among those that fail; empty: any
  std::string says;                 ///< a part of the reason that one of the failed checks must give; empty: any
  std::string symptom;              ///< id of the likely cause that must be named; empty: any or none
  std::string header, sentence;     ///< of the contract that it breaks; empty: of none
  std::string rule;                 ///< what kind of mistake, where a rule has made it
  std::string what;                 ///< one line
  std::vector<SourceChange> changes;  ///< empty: it is a patch
  std::string patch;                  ///< "a9/mean_for_sum.patch", next to the tables
  bool right = false;                 ///< it must keep all marks
  bool alone = false;                 ///< no other task may lose marks, not even one that needs `task`
  bool judge = false;                 ///< only the judge can see it
  bool nightly = false;               ///< slow, or much like another: left out when time is short
  std::string place;                  ///< "grading/solutions/a9.toml:12"
};

/// A sentence of a header that given code keeps, or the reference where other ways are right; and the test of it.
struct KeptSentence {
  std::string header, sentence;
  std::string given;  ///< the test's file
  std::string place;
};

struct SolutionTable {
  std::vector<Solution> solutions;
  std::vector<KeptSentence> kept;
};

/// Reads a table; README.md has its form. Every patch of the folder with the table's name must be in a row.
/// Errors    UsageError: what is wrong, and where
SolutionTable load_solutions(const std::string& path);

/// The reference's texts, by their names in the lab ("student/ring.cpp"), with a patch applied.
/// Call      needs the program `patch`
/// Errors    UsageError: the patch does not apply exactly, or changes none of the texts
std::map<std::string, std::string> patched(const std::string& patch, const std::string& lab_folder,
                                           const std::map<std::string, std::string>& texts);

}  // namespace lab::grading
