#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/course/hand_in/identity.h"
#include "grading/batch/hand_ins.h"
#include "grading/batch/result_store.h"
#include "grading/batch/roster.h"
#include "grading/batch/scanned_hand_in.h"

namespace lab::grading {

/// What an instructor has decided about a hand-in's files, with --accept and --believe. It holds for these files in later
/// gradings too, until they are handed in differently.
struct Decisions {
  std::string accepted;         ///< see AcceptedSymbols
  bool believes_ranks = false;  ///< see GradeOptions

  bool any() const { return believes_ranks || !accepted.empty(); }
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Decisions, accepted, believes_ranks)

/// What an outcome depends on (StoredResult::judging), the decisions included.
std::string judging_with(const std::string& judging, const Decisions& decisions);

/// The decisions in what judging_with() returned; none in any other text.
Decisions decisions_in(const std::string& judging);

/// A hand-in with what is known about it.
struct PlannedHandIn {
  HandIn hand_in;
  ScannedHandIn scanned;
  std::vector<std::size_t> roster_rows;  ///< of those who handed it in
  Identity identity;                     ///< of the student that its results are kept under; may be empty
  std::string who;                       ///< the folder of its results, within that of all
  /// Labs whose results come from this hand-in. Of several hand-ins of a student for a lab only the last counts.
  std::vector<std::string> labs;
  std::vector<std::string> due;                ///< those of them that have to be judged
  std::map<std::string, Decisions> decisions;  ///< by lab: what was decided about these files
  std::map<std::string, std::string> judging;  ///< by lab: see StoredResult
  std::set<std::string> disputed;  ///< labs of which another hand-in, by somebody else, has the same signature
  std::vector<std::string> open;   ///< what somebody has to look at: not graded, not in the roster
  std::vector<std::string> notes;  ///< for the instructor to know: replaced, left out
};

/// What a class has handed in. Pictures, notes and what else holds no lab are not in it where their student has also handed
/// in something that does.
struct ClassPlan {
  std::vector<PlannedHandIn> hand_ins;
  std::vector<std::size_t> missing;  ///< rows of the roster without any hand-in
};

/// What is chosen of a class.
struct ClassChoice {
  std::vector<std::string> only;  ///< students or hand-ins, by any of their names; empty: all
  bool changed = false;           ///< only what has been graded, and was then handed in differently
  bool again = false;             ///< whatever has been graded
  Decisions decisions;            ///< about what is chosen; none: what was decided before holds, unless `again`
};

/// Whose each hand-in is: by its learning platform's names and the roster, or else by what it says itself; and which of a
/// student's counts for each lab: one with code before one without, then the last. What cannot be read replaces nothing.
/// `get_folder` names the folder of a student's results, from the hand-in and an identity that may be empty.
ClassPlan plan_class(const HandIns& hand_ins, const std::vector<ScannedHandIn>& scanned, const Roster* roster,
                     const std::function<std::string(const HandIn&, const Identity&)>& get_folder);

/// Fills in how each lab is to be judged, and what is due: labs without a stored result, or with one of other files or
/// another judging. `judging`: by lab, what an outcome depends on apart from the hand-in and what is decided about it.
/// Errors    UsageError: `only` has a name that fits no hand-in, with the nearest
void choose_due(ClassPlan& plan, const ClassChoice& choice, const std::vector<StoredResult>& stored,
                const std::map<std::string, std::string>& judging);

/// What has to be done, by its place in the plan: hand-ins with code of their own, and those for which all that is due
/// has the same code as an earlier one's, whose outcomes they can take.
struct GradingRounds {
  std::vector<std::size_t> own_code, same_code;
  std::map<std::string, std::string> sources;  ///< see code_key() -> who has it
};

/// The same for a lab of two hand-ins if one's outcome is the other's, too: the same code, judged in the same way.
std::string code_key(const PlannedHandIn& one, const std::string& lab);

/// `to_do`: places in the plan. `stored`: results that may be taken as they are, if they are of the same files and judged
/// in the same way.
/// Call      after choose_due()
GradingRounds plan_rounds(const ClassPlan& plan, const std::vector<std::size_t>& to_do,
                          const std::vector<StoredResult>& stored);

}  // namespace lab::grading
