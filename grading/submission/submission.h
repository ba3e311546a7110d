#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/api/errors.h"
#include "common/course/hand_in/identity.h"
#include "common/course/rubric/rubric.h"

namespace lab::grading {

/// A file of a submission as it is used: text in UTF-8, whatever the encoding it was handed in with.
struct TakenFile {
  std::string bytes;
  /// Why it cannot be used: "is empty", "is 3 MiB, expected at most 1 MiB", "is not text"; empty if it can.
  std::string fault;
  std::string note;  ///< what was done to it: "is Latin-1; it was converted to UTF-8"; empty: nothing
};

/// Sources, and answers that are text by their name, must be text in a known encoding (utf8_text.h); the content of
/// pictures is not checked.
TakenFile take_source(const std::string& bytes);
TakenFile take_answer(const std::string& name, const std::string& bytes);

bool is_markdown(const std::string& name);

/// A lab that may be handed in, and what its hand-in is made of.
struct KnownLab {
  Rubric rubric;
  std::vector<std::string> student_files;        ///< of the suite's own tree: "student/broadcast/flat.cpp"
  std::set<std::string> other_files;             ///< of the suite's own tree: what a whole student tree also has
  std::map<std::string, std::string> templates;  ///< answer -> the template that students fill in
};

/// The lab of this rubric in this folder of the suite's tree.
/// Errors    UsageError: the folder cannot be read, or has no student/
KnownLab known_lab(const Rubric& rubric, const std::string& lab_folder);

/// What was handed in for one lab. Only what the rubric's [hand_in] asks for is here; what is missing is absent.
struct SubmittedLab {
  std::string lab;
  std::map<std::string, std::string> sources;  ///< "student/broadcast/flat.cpp" -> UTF-8 text, not empty, not huge
  std::map<std::string, std::string> answers;  ///< "written_answers_task1.md" -> bytes
  std::vector<std::string> notes;       ///< missing, refused, converted, misnamed and further files, for the student
  std::optional<std::string> identity;  ///< TOML that an answer was signed with
};

struct Submission {
  std::vector<SubmittedLab> labs;  ///< in the order in which the labs are known
  std::vector<std::string> notes;  ///< about what belongs to no lab
  Identity identity;               ///< whose it is, if it says so
};

/// What a student handed in cannot be read, or is not the lab that was asked for. It is not graded, which is not 0 marks.
class UnreadableSubmission : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Where a submission is, and what its author called it, which may say which lab it is: learning platforms rename what
/// is handed in.
struct SubmissionFile {
  std::string path, called;

  /// `called` empty: as it is called there.
  SubmissionFile(std::string where, std::string called_by_its_author = "");  // NOLINT(google-explicit-constructor)
  SubmissionFile(const char* where) : SubmissionFile(std::string(where)) {}  // NOLINT(google-explicit-constructor)
};

/// Reads a folder, an archive, or a single file of answers (A5's, with the code in it). A lab is a folder of its name,
/// at the top or in one folder around everything; or the whole, where `only_lab` or the submission's name says which
/// lab it is. Sources come from the blocks of the lab's markdown where there is no student/.
/// `only_lab`: a lab's name or short name; empty: all that are there.
/// An identity.toml next to the labs, or the comment at the end of a single markdown, says whose it is.
/// Errors    UnreadableSubmission: the file is not an archive, is broken, encrypted or beyond the limits; `only_lab` is not
///           in it, or no file that a lab's hand-in asks for. UsageError: it does not exist; it contains no lab, or more
///           than one submission; an unknown `only_lab`, with the nearest
/// Example   a9.zip with hw/a9_collectives/student/broadcast/flat.cpp: a9_collectives, and a note on 'hw'
Submission read_submission(const SubmissionFile& file, const std::vector<KnownLab>& labs,
                           const std::string& only_lab = "");

/// The lab that was asked for, or that the name of what was handed in says; nullptr: neither says one.
/// Errors    UsageError: an unknown `only_lab`, with the nearest
const KnownLab* lab_meant_by(const SubmissionFile& file, const std::vector<KnownLab>& labs,
                             const std::string& only_lab);

}  // namespace lab::grading
