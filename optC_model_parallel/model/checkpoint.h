#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/api/collectives.h"
#include "common/api/tensor_map.h"
#include "common/tensor/files/safetensors.h"
#include "optC_model_parallel/model/training_record.h"

namespace lab::optc {

/// The state of a training between two steps.
struct Checkpoint {
  std::int64_t step = 0;  ///< steps done since the beginning
  TensorMap state;        ///< Strategy::state()
  TrainingRecord record;  ///< so far
};

struct CheckpointOptions {
  /// Empty: steps are counted and nothing is written, so that a reference is drained at the same steps.
  std::string folder;
  std::int64_t every = 0;  ///< steps; 0: none are written
  /// Resume from the newest checkpoint that is intact on all ranks; if there is none, start from the beginning.
  bool resume = false;
  std::string fingerprint;  ///< what must not differ between the runs: options as text
};

/// One rank's checkpoints: FOLDER/step00000040.rank2.safetensors, each with a checksum, and written completely or not
/// at all. The two newest are kept: whenever ranks are killed, all have at least the one before the newest, which also
/// serves if the newest is damaged. Files of later steps, left by an earlier run, are removed at the next write: that
/// run is not resumed.
class Checkpoints {
 public:
  /// `comm`: how several ranks agree on a step; null in one process.
  Checkpoints(CheckpointOptions options, int rank, int num_ranks, Collectives* comm = nullptr);

  /// The newest checkpoint that all ranks have intact; none without `resume`, or if there is none.
  /// Call      collective, before the first write()
  /// Errors    UsageError: a file has a different fingerprint or number of ranks (both are named), or another format; on
  ///           all ranks: one has damaged files, and no step is left that all ranks have intact
  std::optional<Checkpoint> newest();

  /// What newest() reports to the user: on rank 0 from which step the training resumes, or that it starts over; on each
  /// rank, which of its files are damaged, and how.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Whether one is due after this step, in addition to those at the ends of epochs.
  bool due(std::int64_t step) const { return options_.every > 0 && step % options_.every == 0; }
  bool writes() const { return options_.every > 0 && !options_.folder.empty(); }

  /// Errors    UsageError: it cannot be written, or a weight is not finite; the older ones are untouched
  void write(const Checkpoint& checkpoint);

 private:
  std::string path(std::int64_t step) const;
  std::vector<std::int64_t> own_steps() const;
  SafetensorsMetadata identity() const;
  Checkpoint load(std::int64_t step) const;
  void note_beginning(std::int64_t step);
  void tidy(std::int64_t newest) const;

  CheckpointOptions options_;
  int rank_;
  int num_ranks_;
  Collectives* comm_;
  std::vector<std::string> notes_;
};

}  // namespace lab::optc
