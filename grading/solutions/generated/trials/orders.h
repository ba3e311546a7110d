#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/json.h"

// What labgrade and a lab's trial program (trial_program.h) tell each other, as JSON.
namespace lab::grading::generated {

/// One case on one number of ranks.
struct TrialRun {
  int case_index = 0;  ///< in the lab's table
  int num_ranks = 4;
  std::uint64_t seed = 42;
  double seconds = 0;  ///< what it took the reference; 0: unknown
};

/// A mutant, and the runs to perform it in, in this order.
struct Trial {
  enum class Until {
    kWrong,    ///< its first run that is not right
    kSymptom,  ///< its first run that is not right and has `symptom`
    kDiffers,  ///< its first run whose fingerprint is not the expected one
    kEnd       ///< all of them
  };
  int id = 0;             ///< 0: the reference
  std::vector<int> runs;  ///< of TrialOrder::runs
  Until until = Until::kWrong;
  std::string symptom = {};
};

struct TrialOrder {
  bool notes_places = false;
  int num_mutants = 0;  ///< the highest id
  int jobs = 2;
  std::vector<TrialRun> runs;
  std::vector<Trial> trials;
  std::map<int, std::map<std::string, std::string>> expected;  ///< fingerprints by run, for Trial::Until::kDiffers
};

/// One run of a trial.
struct OrdersReport {
  int run = 0;
  bool right = false;
  bool skipped = false;
  std::string how;      ///< where it is not right: "wrong", "costly", "failed"
  std::string why;      ///< one line
  std::string symptom;  ///< id
  double seconds = 0;
  std::vector<int> places;  ///< of mutants, as far as they are noted
  /// What the ranks did, to the bit: "results", "messages", "work", "memory", "time".
  std::map<std::string, std::string> fingerprint;
};

struct TrialReport {
  int id = 0;
  std::vector<OrdersReport> runs;  ///< those that were performed
  std::string ended;  ///< how its process ended in the run after these; empty: it did all that was to be done
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TrialRun, case_index, num_ranks, seed, seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Trial, id, runs, until, symptom)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TrialOrder, notes_places, num_mutants, jobs, runs, trials, expected)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OrdersReport, run, right, skipped, how, why, symptom, seconds, places, fingerprint)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TrialReport, id, runs, ended)

}  // namespace lab::grading::generated
