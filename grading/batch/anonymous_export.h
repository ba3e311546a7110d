#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "grading/batch/class_marks.h"
#include "grading/marks/lab_outcome.h"

namespace lab::grading {

/// Names for students that say nothing of them to whoever does not have the key, and with it are always the same.
class Pseudonyms {
 public:
  /// `key`: 32 hexadecimal digits, as random_token() makes them.
  /// Errors    UsageError: it is something else; `path` names the file in the message
  Pseudonyms(const std::string& key, const std::string& path);
  /// With the key in this file, which is made if it does not exist, for its owner to read only.
  /// Errors    UsageError: also if it cannot be read or written
  static Pseudonyms kept_in(const std::string& path);

  /// Example   "p3f0a6c5e9b21d478"
  std::string of(const std::string& student) const;

 private:
  std::array<std::uint64_t, 2> key_;
};

/// Marks and outcome without what a student or a person wrote, or a file was called: findings, comments, notes, messages
/// of student code; and without the times of hand-in, by which a platform's records would say whose it is. What remains
/// are numbers, states and the suite's own texts.
LabMarks anonymous(LabMarks marks);
LabOutcome anonymous(LabOutcome outcome);

/// What an export consists of: `outcome_of` reads a student's outcome of a lab, `write` takes each file, by its path in the
/// export.
struct AnonymousExport {
  std::function<LabOutcome(const MarkedStudent& student, const std::string& lab)> outcome_of;
  std::function<void(const std::string& path, const std::string& text)> write;
};

/// Writes marks.csv, index.html, and PSEUDONYM/LAB/outcome.json and report.html for each student, in the order of the
/// pseudonyms, which has nothing to do with that of the roster. Remarks and what was handed in are left out; students of
/// one group have a folder each.
void export_anonymously(const Pseudonyms& pseudonyms, const Roster* roster, const std::vector<MarkedStudent>& students,
                        const std::vector<std::string>& labs, const AnonymousExport& to);

}  // namespace lab::grading
