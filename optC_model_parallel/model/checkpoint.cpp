#include "optC_model_parallel/model/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/base/checksum.h"
#include "common/base/files.h"

namespace lab::optc {
namespace {

constexpr const char* kOfMetadata = "checksum";
constexpr std::string_view kOfTensor = "checksum.";

std::string checksum_text(std::string_view bytes) {
  return fmt::format("{:016x}", compute_checksum(bytes));
}

/// Of its bytes, dtype and shape. A single different byte is always detected: each step of the checksum is a bijection.
std::string checksum_of_tensor(const at::Tensor& tensor) {
  const at::Tensor values = tensor.detach().to(at::kCPU).contiguous();
  const std::string bytes = checksum_text({static_cast<const char*>(values.data_ptr()), values.nbytes()});
  return checksum_text(describe(values) + ' ' + bytes);
}

std::string checksum_of_metadata(const SafetensorsMetadata& metadata) {
  std::string all;
  for (const auto& [key, value] : metadata) {
    if (key != kOfMetadata) all += fmt::format("{}={}\n", key, value);
  }
  return checksum_text(all);
}

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw DamagedFile(fmt::format("'{}' is damaged: {}", path, reason));
}

void require_checksum(const std::string& path, const std::string& what, const SafetensorsMetadata& metadata,
                      const std::string& key, const std::string& actual) {
  const auto expected = metadata.find(key);
  if (expected == metadata.end()) refuse(path, fmt::format("{} has no checksum", what));
  if (expected->second != actual)
    refuse(path, fmt::format("{} has the checksum {}, expected {}", what, actual, expected->second));
}

}  // namespace

std::string save_checked(const std::string& path, const TensorMap& tensors, SafetensorsMetadata metadata) {
  for (const auto& [name, tensor] : tensors)
    metadata[fmt::format("{}{}", kOfTensor, name)] = checksum_of_tensor(tensor);
  const std::string checksum = metadata[kOfMetadata] = checksum_of_metadata(metadata);
  save_safetensors(path, tensors, metadata);
  return checksum;
}

CheckedTensors load_checked(const std::string& path) {
  CheckedTensors loaded;
  try {
    loaded.metadata = load_safetensors_metadata(path);
    loaded.tensors = load_safetensors(path);
  } catch (const UsageError& error) {
    throw DamagedFile(error.what());
  }
  require_checksum(path, "its metadata", loaded.metadata, kOfMetadata, checksum_of_metadata(loaded.metadata));
  for (auto& [name, tensor] : loaded.tensors) {
    tensor = tensor.clone();
    require_checksum(path, fmt::format("tensor '{}'", name), loaded.metadata, fmt::format("{}{}", kOfTensor, name),
                     checksum_of_tensor(tensor));
  }
  for (const auto& entry : loaded.metadata) {
    if (entry.first.compare(0, kOfTensor.size(), kOfTensor) != 0) continue;
    const std::string name = entry.first.substr(kOfTensor.size());
    if (loaded.tensors.count(name) == 0) refuse(path, fmt::format("tensor '{}' is missing", name));
  }
  return loaded;
}

namespace {

constexpr const char* kFormat = "2";
constexpr const char* kEpochs = "epochs";
constexpr std::string_view kStep = "step";
constexpr std::string_view kEpoch = "epoch";
constexpr std::string_view kState = "state.";
constexpr std::string_view kRecord = "record.";

std::string step_file(std::int64_t step, int rank) {
  return fmt::format("{}{:08}.rank{}.safetensors", kStep, step, rank);
}

std::string epoch_file(std::size_t epoch, int rank) {
  return fmt::format("{}{:05}.rank{}.safetensors", kEpoch, epoch, rank);
}

/// The number after this prefix of a name; -1 if it does not have the prefix.
std::int64_t number_in(const std::string& name, std::string_view beginning) {
  std::int64_t number = -1;
  if (name.compare(0, beginning.size(), beginning) == 0)
    std::from_chars(name.data() + beginning.size(), name.data() + name.size(), number);
  return number;
}

bool begins_with(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

/// The names of the files in a folder; none if there is no such folder.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing))
    names.push_back(entry.path().filename().string());
  return names;
}

/// The tensors whose names have this prefix, with the prefix removed.
TensorMap part_named(const TensorMap& tensors, std::string_view beginning) {
  TensorMap part;
  for (const auto& [name, tensor] : tensors) {
    if (begins_with(name, beginning)) part[name.substr(beginning.size())] = tensor;
  }
  return part;
}

std::vector<std::string> split_at_spaces(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

void require_finite(const TensorMap& state, const std::string& where, const std::string& hint) {
  for (const auto& [name, tensor] : state) {
    if (!tensor.is_floating_point()) continue;
    const at::Tensor wrong = tensor.flatten().masked_select(tensor.flatten().isfinite().logical_not());
    if (wrong.numel() == 0) continue;
    throw UsageError(
        fmt::format("{}: expected finite weights, got {} of {} values of '{}' that are not, the first {}; "
                    "hint: {}",
                    where, wrong.numel(), tensor.numel(), name, wrong[0].item<double>(), hint));
  }
}

}  // namespace

Checkpoints::Checkpoints(CheckpointOptions options, int rank, int num_ranks, Agree agree)
    : options_(std::move(options)), rank_(rank), num_ranks_(num_ranks), agree_(std::move(agree)) {}

std::vector<std::int64_t> Checkpoints::list_steps(int rank) const {
  std::vector<std::int64_t> steps;
  for (const std::string& name : names_in(options_.folder)) {
    const std::int64_t step = number_in(name, kStep);
    if (step >= 0 && name == step_file(step, rank)) steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

SafetensorsMetadata Checkpoints::identity() const {
  return {{"format", kFormat}, {"fingerprint", options_.fingerprint}, {"num_ranks", fmt::to_string(num_ranks_)}};
}

void Checkpoints::require_same_training(const std::string& path, const SafetensorsMetadata& metadata) const {
  for (const auto& [what, value] : identity()) {
    const auto found = metadata.find(what);
    const std::string got = found == metadata.end() ? "" : found->second;
    if (got != value)
      throw UsageError(
          fmt::format("checkpoint '{}': expected {} '{}', got '{}'; hint: the options that it was made "
                      "with, or no --resume",
                      path, what, value, got));
  }
}

/// If there are more ranks than before, the new ones have no file: they check the first rank's.
void Checkpoints::require_same_number_of_ranks() const {
  const std::vector<std::int64_t> steps = list_steps(0);
  if (steps.empty() || rank_ == 0) return;
  const std::string path = make_path(step_file(steps.back(), 0));
  CheckedTensors first;
  try {
    first = load_checked(path);
  } catch (const DamagedFile&) {
    return;  // the first rank reports it
  }
  require_same_training(path, first.metadata);
}

Checkpoint Checkpoints::load(std::int64_t step) {
  const std::string path = make_path(step_file(step, rank_));
  CheckedTensors file = load_checked(path);
  require_same_training(path, file.metadata);
  Checkpoint checkpoint{step, part_named(file.tensors, kState), make_record(part_named(file.tensors, kRecord))};
  epochs_ = split_at_spaces(file.metadata[kEpochs]);
  for (std::size_t i = 0; i < epochs_.size(); ++i) {
    const std::string of_epoch = make_path(epoch_file(i + 1, rank_));
    CheckedTensors epoch = load_checked(of_epoch);
    if (epoch.metadata["checksum"] != epochs_[i])
      throw DamagedFile(fmt::format("'{}' belongs to another training than '{}'", of_epoch, path));
    checkpoint.record.parameters.push_back(std::move(epoch.tensors));
  }
  return checkpoint;
}

void Checkpoints::note_beginning(std::int64_t step) {
  if (rank_ != 0) return;
  if (step >= 0) {
    notes_.push_back(fmt::format("--resume: the training goes on from step {} of '{}'", step, options_.folder));
    return;
  }
  const bool has_folder = std::filesystem::is_directory(options_.folder);
  const std::string found = !has_folder             ? "there is no folder"
                            : list_steps(0).empty() ? "there is no checkpoint in"
                                                    : "no step is there on all ranks in";
  notes_.push_back(
      fmt::format("--resume: NOTHING TO GO ON FROM: {} '{}'; the training starts at step 0; hint: "
                  "--checkpoint-dir",
                  found, options_.folder));
}

std::optional<Checkpoint> Checkpoints::newest() {
  notes_.clear();
  epochs_.clear();
  if (!options_.resume) return std::nullopt;
  require_same_number_of_ranks();
  Found own;
  for (const std::int64_t step : list_steps(rank_)) {
    try {
      load(step);
      own.steps.push_back(step);
    } catch (const DamagedFile& damage) {
      notes_.push_back(fmt::format("checkpoint of step {}: {}", step, damage.what()));
    }
  }
  own.damage = fmt::format("{}", fmt::join(notes_, "; "));
  const Agreed agreed = agree_ ? agree_(own) : Agreed{own.steps.empty() ? -1 : own.steps.back(), own.damage};
  const std::int64_t step = agreed.step;
  if (step < 0 && !agreed.damage.empty())
    throw UsageError(
        fmt::format("--resume: no step is left that all ranks have intact: {}; hint: without --resume the training "
                    "starts over",
                    agreed.damage));
  note_beginning(step);
  epochs_.clear();
  if (step < 0) return std::nullopt;
  Checkpoint checkpoint = load(step);
  require_finite(checkpoint.state, "checkpoint '" + make_path(step_file(step, rank_)) + "'",
                 "the training had diverged before; a lower --lr, and no --resume");
  return checkpoint;
}

bool Checkpoints::due(std::int64_t step) const {
  return options_.every > 0 && step % options_.every == 0;
}

void Checkpoints::write(const Checkpoint& checkpoint) {
  require_finite(checkpoint.state, fmt::format("after step {}", checkpoint.step), "a lower --lr");
  make_folder("--checkpoint-dir", options_.folder);
  const std::vector<TensorMap>& epochs = checkpoint.record.parameters;
  for (std::size_t i = epochs_.size(); i < epochs.size(); ++i)
    epochs_.push_back(save_checked(make_path(epoch_file(i + 1, rank_)), epochs[i], identity()));
  TrainingRecord record = checkpoint.record;
  record.parameters.clear();
  TensorMap tensors;
  for (const auto& [name, tensor] : checkpoint.state) tensors[fmt::format("{}{}", kState, name)] = tensor;
  for (const auto& [name, tensor] : list_tensors(record)) tensors[fmt::format("{}{}", kRecord, name)] = tensor;
  SafetensorsMetadata metadata = identity();
  metadata[kEpochs] = fmt::format("{}", fmt::join(epochs_, " "));
  save_checked(make_path(step_file(checkpoint.step, rank_)), tensors, metadata);
  tidy(checkpoint.step);
}

/// Keeps this rank's newest file, the one before it, and the epochs up to there, and removes the others. If one cannot
/// be removed, the next call tries again.
void Checkpoints::tidy(std::int64_t newest) const {
  std::vector<std::string> kept = {step_file(newest, rank_)};
  std::int64_t before = -1;
  for (const std::int64_t step : list_steps(rank_)) {
    if (step < newest) before = std::max(before, step);
  }
  kept.push_back(step_file(before, rank_));
  for (std::size_t epoch = 1; epoch <= epochs_.size(); ++epoch) kept.push_back(epoch_file(epoch, rank_));
  for (const std::string& name : names_in(options_.folder)) {
    // Longer names are temporary files of a writer that was killed.
    const std::int64_t step = number_in(name, kStep), epoch = number_in(name, kEpoch);
    const bool own = (step >= 0 && begins_with(name, step_file(step, rank_))) ||
                     (epoch >= 0 && begins_with(name, epoch_file(static_cast<std::size_t>(epoch), rank_)));
    std::error_code ignored;
    if (own && std::find(kept.begin(), kept.end(), name) == kept.end())
      std::filesystem::remove(std::filesystem::path(options_.folder) / name, ignored);
  }
}

}  // namespace lab::optc
