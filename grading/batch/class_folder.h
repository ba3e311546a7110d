#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/launch/supervise/run_directory.h"
#include "grading/batch/hand_ins.h"
#include "grading/batch/roster.h"
#include "grading/submission/submission.h"

namespace lab::grading {

/// Unpacks a learning platform's bulk download into a folder, which must be empty. Names come from students: only
/// regular files are taken, and none is written outside the folder.
/// Returns   what was left out, and why
/// Errors    UsageError: it is not an archive, is broken, or holds more than 16 GiB or 200,000 entries
std::vector<std::string> unpack_download(const std::string& archive, const std::string& folder);

}  // namespace lab::grading

namespace lab::cli {
class App;
}

namespace lab::grading {

/// Where a class's hand-ins are, and how to tell whose they are.
struct ClassSource {
  std::string folder;             ///< of all hand-ins, or the platform's archive of it
  std::string names;              ///< a NamePattern; empty: as Canvas, Moodle and Gradescope name them
  std::string only_lab;           ///< where hand-ins do not say which lab they are; empty: they do
  std::string roster, roster_id;  ///< the students as CSV, and the column that they are called by; may be empty

  /// FOLDER, --lab, --names, --roster and --roster-id.
  void add_to(cli::App& app);
  /// Errors    UsageError: the file cannot be read, or as Roster()
  std::unique_ptr<Roster> read_roster() const;  ///< nullptr: there is none
};

/// What was found out about a hand-in in the process that read it.
struct Described {
  std::string text;
  std::string problem;  ///< why there is none: it cannot be read
};

/// The hand-ins of a class.
class ClassFolder {
 public:
  /// `out`: the folder of the results, which are not a hand-in if they are in the same folder. `roster`: may be null.
  /// Errors    UsageError: an invalid pattern, nothing that was handed in
  ClassFolder(ClassSource source, const std::string& out, std::vector<KnownLab> known, const Roster* roster);

  const HandIns& hand_ins() const { return hand_ins_; }
  const std::vector<KnownLab>& known() const { return known_; }

  /// What is in a hand-in.
  /// Errors    UsageError: as read_submission()
  Submission read(const HandIn& hand_in) const;
  /// Reads and describes every hand-in in a child process, since a hostile one may crash the reader.
  /// Returns   the signal that stopped it; nothing: `described` has an entry for each of hand_ins().found
  std::optional<int> describe_all(int jobs, const std::function<std::string(const Submission&)>& describe,
                                  std::vector<Described>& described) const;

 private:
  HandIns find(const std::string& out, const Roster* roster);

  const ClassSource source_;
  const std::vector<KnownLab> known_;
  const launch::RunDirectory unpacked_;
  HandIns hand_ins_;
};

/// Prints a line that may begin with what students name.
void print_note(const std::string& note);

}  // namespace lab::grading
