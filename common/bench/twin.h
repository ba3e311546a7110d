#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/files.h"

// A rank of a benchmark and its twin: the same rank of a peer that runs in processes of its own. The rank asks for one
// block of calls at a time, and the twin sleeps while others are measured.
namespace lab {

struct TwinBlock {
  std::string collective;
  std::int64_t bytes = 0;  ///< as nccl-tests counts them
  int calls = 0;           ///< one after the other, behind a barrier; 0: one call, whose result is checked
};

struct TwinAnswer {
  double seconds = 0;      ///< of one call, on this rank
  std::int64_t wrong = 0;  ///< elements over all ranks, where the result was checked
  double switches = 0;     ///< of context, in one call, on this rank
};

/// The rank's side.
class Twin {
 public:
  /// Listens at FOLDER/NAME.RANK for serve_as_twin().
  /// Errors    UsageError: it cannot
  Twin(const std::string& folder, const std::string& name, int rank);

  /// From now on it is lost as soon as its program has ended.
  void watch(std::function<bool()> has_ended) { has_ended_ = std::move(has_ended); }

  /// Waits until it is there; false after the given time.
  bool has_come(double max_seconds);

  /// The twin is awaited for so long, and every answer. One that is late, or gone, is lost, and with it all of its peer's
  /// that listen in this folder, whose ranks would wait for it: they are not asked again.
  void ask(const TwinBlock& block, double max_seconds);
  /// What it says to that; nothing once it is lost.
  std::optional<TwinAnswer> answer();

  bool is_lost() const { return is_lost_; }
  void lose();
  /// The peer's name for itself, such as "Open MPI v4.1.4", once it has answered.
  const std::string& library() const { return library_; }

 private:
  bool is_asked(const TwinBlock& block, double max_seconds);
  bool awaits(int fd) const;
  std::optional<std::string> line();

  std::string loss_;  ///< the file that tells the others of a lost twin
  std::function<bool()> has_ended_;
  std::vector<UniqueFd> listeners_;
  UniqueFd connection_;
  std::string received_, library_;
  std::chrono::steady_clock::time_point deadline_;
  bool is_lost_ = false;
};

/// The twin's side: calls `run` for each block until the rank is gone. Asleep in between.
/// Errors    UsageError: nothing listens there
void serve_as_twin(const std::string& folder, const std::string& name, int rank, const std::string& library,
                   const std::function<TwinAnswer(const TwinBlock&)>& run);

}  // namespace lab
