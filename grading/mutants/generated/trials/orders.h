#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

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
  int id = 0;             ///< 0: the reference
  std::vector<int> runs;  ///< of TrialOrder::runs
};

struct TrialOrder {
  enum class Until {
    kWrong,   ///< each trial up to its first run that is not right
    kDiffers  ///< each up to its first run whose fingerprint is not the expected one
  };
  Until until = Until::kWrong;
  bool notes_places = false;
  int num_mutants = 0;  ///< the highest id
  int jobs = 2;
  std::vector<TrialRun> runs;
  std::vector<Trial> trials;
  std::map<int, std::map<std::string, std::string>> expected;  ///< fingerprints by run; kDiffers
};

/// One run of a trial.
struct RunReport {
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
  std::vector<RunReport> runs;  ///< those that were performed
  std::string ended;            ///< how its process ended in the run after these; empty: it did all that was to be done
};

std::string to_json(const TrialOrder& order);
TrialOrder order_from_json(const std::string& text);
std::string to_json(const RunReport& report);
RunReport run_from_json(const std::string& text);
std::string to_json(const TrialReport& report);
TrialReport report_from_json(const std::string& text);

}  // namespace lab::grading::generated
