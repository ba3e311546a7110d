#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/tensor/files/safetensors.h"
#include "common/tensor/tensor_map.h"
#include "optC_model_parallel/model/training/training_record.h"

namespace lab::optc {

/// A training at rest, between two steps.
struct Checkpoint {
  std::int64_t step = 0;  ///< done since the beginning
  TensorMap state;        ///< Strategy::state()
  TrainingRecord record;  ///< so far
};

struct CheckpointOptions {
  std::string folder;      ///< empty: steps are counted and nothing is written, as a reference is drained in time
  std::int64_t every = 0;  ///< steps; 0: none are written
  bool resume = false;  ///< go on from the newest that is intact on all ranks; where none is there, from the beginning
  std::string fingerprint;  ///< what must not differ between the runs: options in words
};

/// One rank's checkpoints: FOLDER/step00000040.rank2.safetensors, each complete or not there, with a checksum of every
/// tensor. The two newest are kept: while some ranks have written the newest and some have not, all have the one before,
/// whenever they are killed; and where the newest is damaged, the one before serves. The weights after an epoch, which
/// are needed for comparison only, are written once: FOLDER/epoch00001.rank2.safetensors. Files of later steps and
/// epochs, which an earlier run has left, go at the next write: that run is not gone on from.
class Checkpoints {
 public:
  /// The ranks' common answer: for every number that all of them give, the largest; -1 where there is none. In one
  /// process simply the largest.
  using Agree = std::function<std::int64_t(const std::vector<std::int64_t>& steps)>;

  Checkpoints(CheckpointOptions options, int rank, int num_ranks, Agree agree = {});

  /// The newest checkpoint that all ranks have intact; none without `resume`, or where there is none.
  /// Call      collective, before the first write()
  /// Errors    UsageError: a file, or the first rank's newest, is of another fingerprint or number of ranks (both are
  ///           named), or of an earlier format; a weight that is not finite; this rank has damaged files, and no step is
  ///           left that all ranks have intact
  std::optional<Checkpoint> newest();

  /// What newest() has to tell the user: on rank 0 from which step the training goes on, or that it starts over; on
  /// each rank, which of its files are damaged, and how.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Whether one is due after this step, besides those at the ends of epochs.
  bool due(std::int64_t step) const;
  bool writes() const { return options_.every > 0 && !options_.folder.empty(); }

  /// Errors    UsageError: it cannot be written, or a weight is not finite; the older ones are untouched
  void write(const Checkpoint& checkpoint);

 private:
  std::string path_of(const std::string& name) const { return options_.folder + "/" + name; }
  std::vector<std::int64_t> steps_of(int rank) const;
  SafetensorsMetadata identity() const;
  void require_same_training(const std::string& path, const SafetensorsMetadata& metadata) const;
  void require_same_number_of_ranks() const;
  /// Errors    DamagedFile, UsageError
  Checkpoint load(std::int64_t step);
  void note_beginning(std::int64_t step);
  void tidy(std::int64_t newest) const;

  CheckpointOptions options_;
  int rank_;
  int num_ranks_;
  Agree agree_;
  std::vector<std::string> notes_;
  std::vector<std::string> epochs_;  ///< the checksums of the files of epochs 1, 2, ...
};

}  // namespace lab::optc
