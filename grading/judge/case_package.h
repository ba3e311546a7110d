#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "common/checks/check_run.h"
#include "common/comm/relay/relay_world.h"
#include "common/rank/record.h"
#include "grading/sandbox/process_usage.h"

namespace lab::grading {

/// Gives each rank of a world its inputs of one case after the other and keeps what it returns, with the costs that the
/// relay has counted and what was seen of the rank's process. The caller leaves out those that are skipped on this number
/// of ranks. Cases that a rank is not asked for are not sent to it; nor is the seed from which inputs and expected results
/// follow: a task that expects one gets a random number, the same on every rank.
class CasePackage final : public comm::RelayWork {
 public:
  CasePackage(std::vector<Case> cases, int num_ranks, std::uint64_t seed);

  std::optional<std::string> next(int rank, pid_t process) override;
  /// Errors    UsageError: what came back is not a record of the case that was sent
  void done(int rank, pid_t process, std::string result, const comm::RelayCost& spent) override;

  /// How many records have come back; may be asked by another thread.
  std::uint64_t num_done() const { return num_done_; }
  /// How many ranks have asked for work.
  int num_started() const { return num_started_; }
  /// By rank, once all have ended.
  /// Errors    those of drawing a case's inputs
  std::vector<std::vector<CaseRecord>> take_records();
  /// What each did in its cases, by rank: with the case that did not come back, in which it did `unfinished(rank)`.
  std::vector<std::vector<CaseTrace>> take_traces(const std::function<comm::RankTrace(int rank)>& unfinished);

 private:
  struct RankState {
    bool has_started = false;
    std::size_t next_case = 0;
    int next_call = 1;              ///< of that case
    const Case* current = nullptr;  ///< was sent, and has not come back
    int current_call = 1;
    std::vector<CaseRecord> records;
    std::vector<CaseTrace> traces;
    ProcessUsage usage;
  };

  CaseInputs make_inputs(std::size_t index, int rank, int call) const;

  const std::vector<Case> cases_;
  const std::uint64_t seed_;                     ///< of the run
  const std::vector<std::uint64_t> task_seeds_;  ///< by case, of its first call: what ranks get in its place
  std::vector<RankState> ranks_;
  std::map<pid_t, int> processes_;  ///< that asked for work: no two ranks may share one
  std::exception_ptr not_drawn_;    ///< the suite's own mistake, not a rank's
  std::atomic<std::uint64_t> num_done_{0};
  int num_started_ = 0;
};

}  // namespace lab::grading
