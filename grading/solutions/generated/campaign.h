#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/checks/checked_sizes.h"
#include "grading/processes/own_processes.h"
#include "grading/solutions/generated/lab_mutants.h"
#include "grading/solutions/generated/trials/orders.h"

namespace lab::grading::generated {

/// What became of a mutant.
struct Fate {
  enum class Kind {
    kNotCompiled,
    kByCheck,  ///< caught by what `lab check` runs
    kByJudge,  ///< caught by the judge only
    kEqual,    ///< not caught; does the same as the original, to the bit, in every run of the sweep
    kSurvived  ///< not caught, although it does something else
  };
  const SourceMutant* mutant = nullptr;
  Kind kind = Kind::kSurvived;
  std::string by;                 ///< "Broadcast on 4 ranks: wrong: ...": what caught it
  std::string symptom;            ///< id, where a case caught it
  bool reached = false;           ///< by some case
  std::set<std::string> differs;  ///< kSurvived: in what; "messages", "time"
  std::string differs_at;         ///< the first such run, and how: "Ring on 3 ranks: time 120 140 -> 120 160"
  std::string reason;             ///< kEqual: why, by equivalent.toml; empty: nobody has said
};

/// Runs all stages for some mutants of a lab.
struct Campaign {
  const std::vector<Case>& cases;
  CheckedSizes sizes;
  const LabMutants& mutants;
  const std::vector<Equivalent>& equivalents;
  std::string lab_folder;
  int jobs = 2;
  std::uint64_t seed = 42;  ///< of inputs, as `lab check` draws them
  /// Runs an order in the trial program.
  std::function<std::vector<TrialReport>(const TrialOrder&)> perform;
  /// Judges these mutants as submissions, in order; each with the tasks whose cases reach it. It is as required that
  /// they are caught.
  std::function<std::vector<Verdict>(const std::vector<std::pair<int, std::set<std::string>>>&)> judge;
  /// Told what is being done.
  std::function<void(const std::string&)> say;

  /// The fates of the mutants with these ids, in order; `left_out`: those that did not compile.
  /// Errors    UsageError: a case fails with the reference
  std::vector<Fate> run(const std::vector<int>& ids, const std::map<int, std::string>& left_out) const;

 private:
  /// Runs, and what the reference did in them.
  struct Known {
    std::vector<TrialRun> runs;
    std::vector<OrdersReport> reference;
    std::map<int, std::map<std::string, std::string>> same;  ///< fingerprints that it left twice, by run
  };

  std::vector<TrialRun> runs_on(const std::vector<int>& on_sizes, const std::vector<std::uint64_t>& seeds) const;
  /// Runs in which the reference is not right, such as on a size that the lab does not have, count as skipped unless they
  /// must be. What differs between two runs of the reference shows nothing, and is not among the fingerprints.
  Known with_reference(std::vector<TrialRun> runs, bool must_be_right) const;
  /// Those that reach the mutant, what sees most and is quickest first.
  std::vector<int> runs_for(int id, const Known& known) const;
  std::set<int> cases_for(int id, const Known& known) const;
  void try_on(const Known& known, std::vector<Fate>& fates) const;
  /// Notes the first run in which a mutant did not leave the reference's fingerprint.
  void compare(const Known& known, const TrialReport& report, Fate& fate) const;
  /// Compares those that differ nowhere yet in the runs that are not known yet; what differs nowhere then is equal.
  void sweep(const Known& known, std::vector<Fate>& fates) const;
  void judge_rest(const Known& known, std::vector<Fate>& fates) const;
  std::string find_place(const TrialRun& run) const;
};

}  // namespace lab::grading::generated
