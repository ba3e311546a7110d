#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/tensor/tensor_map.h"
#include "optC_model_parallel/training_record.h"

namespace lab::optc {

/// A training at rest, between two steps.
struct Checkpoint {
  std::int64_t step = 0;  ///< done since the beginning
  TensorMap state;        ///< Strategy::state()
  TrainingRecord record;  ///< so far
};

struct CheckpointOptions {
  std::string folder;       ///< empty: steps are counted and nothing is written, as a reference is drained in time
  std::int64_t every = 0;   ///< steps; 0: none are written
  bool resume = false;      ///< go on from the newest that is there; from the beginning where none is
  std::string fingerprint;  ///< what must not differ between the runs: options in words
};

/// One rank's checkpoints: FOLDER/step00000040.rank2.safetensors, each complete or not there. The two newest are kept:
/// while some ranks have written the newest and some have not, all have the one before, whenever they are killed.
/// Files of later steps, which an earlier run has left, go at the next write: that run is not gone on from.
class Checkpoints {
 public:
  /// The ranks' common answer: for every number that all of them give, the largest; -1 where there is none. In one
  /// process simply the largest.
  using Agree = std::function<std::int64_t(const std::vector<std::int64_t>& steps)>;

  Checkpoints(CheckpointOptions options, int rank, int num_ranks, Agree agree = {});

  /// The newest checkpoint that all ranks have; none without `resume`.
  /// Call      collective
  /// Errors    UsageError: the file is damaged; it, or the first rank's newest, is of another fingerprint or number of
  ///           ranks: both are named
  std::optional<Checkpoint> newest() const;

  /// Whether one is due after this step, besides those at the ends of epochs.
  bool due(std::int64_t step) const;
  bool writes() const { return options_.every > 0 && !options_.folder.empty(); }

  /// Errors    UsageError: it cannot be written; the older ones are untouched
  void write(const Checkpoint& checkpoint) const;

 private:
  std::string path_of(std::int64_t step, int rank) const;
  std::vector<std::int64_t> steps_of(int rank) const;
  void require_same_training(const std::string& path) const;
  void tidy(std::int64_t newest) const;

  CheckpointOptions options_;
  int rank_;
  int num_ranks_;
  Agree agree_;
};

}  // namespace lab::optc
