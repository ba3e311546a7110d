#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/json.h"
#include "grading/batch/class_plan.h"
#include "grading/judge/judging_place.h"
#include "grading/submission/submission.h"

namespace lab::grading {

/// What an outcome of the lab depends on, apart from the hand-in and what is decided about it, as text.
std::string describe_judging(const JudgingPlace& place, const Rubric& rubric, std::uint64_t seed);

/// How a lab of a hand-in gets its outcome.
struct LabOrder {
  std::string lab;
  std::string version, judging;  ///< see StoredResult; a grader that finds others refuses
  Decisions decisions;
  std::string outcome;  ///< as JSON, taken as it is; empty: the lab is judged
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LabOrder, lab, version, judging, decisions, outcome)

/// What a process does about one hand-in, on whichever machine it runs. Its paths are absolute.
struct GradeOrder {
  std::string path, called, only_lab;  ///< as for read_submission()
  std::string results;                 ///< the folder that gets one for each lab
  std::string student;                 ///< the id
  std::uint64_t seed = 0;
  std::vector<LabOrder> labs;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GradeOrder, path, called, only_lab, results, student, seed, labs)

struct GradedLab {
  std::string lab, headline, needs_look, outcome;
  double seconds = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GradedLab, lab, headline, needs_look, outcome, seconds)

/// What has become of an order.
struct GradedHandIn {
  std::string node;      ///< the machine it is graded on; empty: no process has begun
  bool is_done = false;  ///< false: the process is at work, or was lost
  std::string problem;   ///< why nothing was judged; empty: it was
  std::vector<GradedLab> labs;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GradedHandIn, node, is_done, problem, labs)

/// The file of an order and, next to it, that of its result. Both are in a folder that every node sees.
class OrderFile {
 public:
  explicit OrderFile(std::string path) : path_(std::move(path)) {}

  /// Says that a result is wanted.
  void open() const;
  /// Says where it is being graded.
  void begin() const;
  /// Removes what is there: whoever still works on it finds that its result is not wanted any more.
  void close() const;
  bool is_wanted() const;
  /// While an order that was taken is at work: renewed every few seconds, elsewhere; none: it has not begun.
  std::optional<std::filesystem::file_time_type> sign_of_life() const;

  void write(const GradeOrder& order) const;
  /// Takes the order, and begins: nobody can take it a second time.
  /// Errors    UsageError: it is not there
  GradeOrder take() const;

  void write_result(const GradedHandIn& graded) const;
  /// What has been written; nothing has begun where that cannot be read.
  GradedHandIn read_result() const;

  /// In a process of its own: renews the sign of life. Ends the process that started it once no result is wanted: whoever
  /// gave the order has given it up, or is gone.
  void show_life() const;

  const std::string& path() const { return path_; }

 private:
  std::string taken() const { return path_ + ".taken"; }
  std::string result() const { return path_ + ".result"; }

  std::string path_;
};

/// Judges what is due, leaves the files of `lab grade` in the order's folder, and the result next to the order. Whatever
/// goes wrong is in the result.
/// Errors    UsageError: the result cannot be written, or is not wanted any more
void carry_out(const JudgingPlace& place, const std::vector<KnownLab>& known, const GradeOrder& order,
               const OrderFile& file);

/// The same for the order in a file, in a process that something else has started.
/// Errors    as carry_out() and OrderFile::take()
void carry_out(const JudgingPlace& place, const std::string& file);

}  // namespace lab::grading
