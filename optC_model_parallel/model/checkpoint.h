#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/api/errors.h"
#include "common/api/tensor_map.h"
#include "common/tensor/files/safetensors.h"
#include "optC_model_parallel/model/training_record.h"

namespace lab::optc {

/// A file that differs from what was written.
class DamagedFile : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Writes a safetensors file with a checksum of every tensor ("checksum.NAME") and one of all the metadata ("checksum").
/// Returns   the latter, which differs between files with different tensors or metadata
/// Errors    UsageError: as save_safetensors()
std::string save_checked(const std::string& path, const TensorMap& tensors, SafetensorsMetadata metadata);

struct CheckedTensors {
  TensorMap tensors;  ///< copies: the file may be replaced
  SafetensorsMetadata metadata;
};

/// Reads such a file in full and compares all checksums.
/// Errors    DamagedFile: it cannot be read, or a tensor, its name, dtype or shape, or the metadata, has changed or has no
///           checksum ("'c/step00000040.rank1.safetensors' is damaged: tensor 'state.fc1.weight' has the checksum ...,
///           expected ...")
CheckedTensors load_checked(const std::string& path);

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

/// One rank's checkpoints: FOLDER/step00000040.rank2.safetensors, each written completely or not at all, with a
/// checksum of every tensor. The two newest are kept: whenever ranks are killed, all have at least the one before the
/// newest, which also serves if the newest is damaged. The weights after an epoch, needed only for comparison, are
/// written once: FOLDER/epoch00001.rank2.safetensors. Files of later steps and epochs, left by an earlier run, are
/// removed at the next write: that run is not resumed.
class Checkpoints {
 public:
  /// What a rank has: the steps whose files are intact, and what is damaged, if something is.
  struct Found {
    std::vector<std::int64_t> steps;
    std::string damage;
  };
  /// The same on all ranks: the largest step that all have, -1 if there is none; and all that is damaged, by rank.
  struct Agreed {
    std::int64_t step = -1;
    std::string damage;
  };
  /// In one process there is nothing to agree on.
  using Agree = std::function<Agreed(const Found& own)>;

  Checkpoints(CheckpointOptions options, int rank, int num_ranks, Agree agree = {});

  /// The newest checkpoint that all ranks have intact; none without `resume`, or if there is none.
  /// Call      collective, before the first write()
  /// Errors    UsageError: a file, or the first rank's newest, has a different fingerprint or number of ranks (both are
  ///           named), or another format; a weight is not finite; on all ranks: one has damaged files, and no step is
  ///           left that all ranks have intact
  std::optional<Checkpoint> newest();

  /// What newest() reports to the user: on rank 0 from which step the training resumes, or that it starts over; on each
  /// rank, which of its files are damaged, and how.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Whether one is due after this step, in addition to those at the ends of epochs.
  bool due(std::int64_t step) const;
  bool writes() const { return options_.every > 0 && !options_.folder.empty(); }

  /// Errors    UsageError: it cannot be written, or a weight is not finite; the older ones are untouched
  void write(const Checkpoint& checkpoint);

 private:
  std::string make_path(const std::string& name) const { return options_.folder + "/" + name; }
  std::vector<std::int64_t> list_steps(int rank) const;
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
