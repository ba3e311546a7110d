#include "optC_model_parallel/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

#include "common/report/errors.h"
#include "common/report/folder.h"
#include "common/tensor/safetensors.h"

namespace lab::optc {
namespace {

constexpr const char* kFormat = "1";
constexpr std::string_view kStep = "step";
constexpr std::string_view kState = "state.";
constexpr std::string_view kRecord = "record.";

std::string file_name(std::int64_t step, int rank) {
  return fmt::format("{}{:08}.rank{}.safetensors", kStep, step, rank);
}

/// The step that such a name begins with; -1 if it does not.
std::int64_t step_in(const std::string& name) {
  std::int64_t step = -1;
  if (name.compare(0, kStep.size(), kStep) == 0)
    std::from_chars(name.data() + kStep.size(), name.data() + name.size(), step);
  return step;
}

bool begins_with(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

/// The names of the files in a folder; none where there is no such folder.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing))
    names.push_back(entry.path().filename().string());
  return names;
}

/// The tensors whose names begin so, without that beginning.
TensorMap part_named(const TensorMap& tensors, std::string_view beginning) {
  TensorMap part;
  for (const auto& [name, tensor] : tensors) {
    // A copy: the file is about to be removed, and a mapping would keep its blocks on the disk.
    if (begins_with(name, beginning)) part[name.substr(beginning.size())] = tensor.clone();
  }
  return part;
}

}  // namespace

Checkpoints::Checkpoints(CheckpointOptions options, int rank, int num_ranks, Agree agree)
    : options_(std::move(options)), rank_(rank), num_ranks_(num_ranks), agree_(std::move(agree)) {}

std::string Checkpoints::path_of(std::int64_t step, int rank) const {
  return options_.folder + "/" + file_name(step, rank);
}

std::vector<std::int64_t> Checkpoints::steps_of(int rank) const {
  std::vector<std::int64_t> steps;
  for (const std::string& name : names_in(options_.folder)) {
    const std::int64_t step = step_in(name);
    if (step >= 0 && name == file_name(step, rank)) steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

void Checkpoints::require_same_training(const std::string& path) const {
  SafetensorsMetadata metadata = load_safetensors_metadata(path);
  const std::pair<const char*, std::string> expected[] = {
      {"format", kFormat}, {"fingerprint", options_.fingerprint}, {"num_ranks", fmt::to_string(num_ranks_)}};
  for (const auto& [what, value] : expected) {
    if (metadata[what] != value)
      throw UsageError(
          fmt::format("checkpoint '{}': expected {} '{}', got '{}'; hint: the options that it was made "
                      "with, or no --resume",
                      path, what, value, metadata[what]));
  }
}

std::optional<Checkpoint> Checkpoints::newest() const {
  if (!options_.resume) return std::nullopt;
  // Of more ranks than before, the new ones have no file: they look at the first rank's.
  const std::vector<std::int64_t> first_rank = steps_of(0);
  if (!first_rank.empty()) require_same_training(path_of(first_rank.back(), 0));
  const std::vector<std::int64_t> own = steps_of(rank_);
  const std::int64_t step = agree_ ? agree_(own) : own.empty() ? -1 : own.back();
  if (step < 0) return std::nullopt;
  const std::string path = path_of(step, rank_);
  require_same_training(path);
  const TensorMap tensors = load_safetensors(path);
  return Checkpoint{step, part_named(tensors, kState), record_of(part_named(tensors, kRecord))};
}

bool Checkpoints::due(std::int64_t step) const {
  return options_.every > 0 && step % options_.every == 0;
}

void Checkpoints::write(const Checkpoint& checkpoint) const {
  TensorMap tensors;
  for (const auto& [name, tensor] : checkpoint.state) tensors[fmt::format("{}{}", kState, name)] = tensor;
  for (const auto& [name, tensor] : tensors_of(checkpoint.record)) tensors[fmt::format("{}{}", kRecord, name)] = tensor;
  make_folder("--checkpoint-dir", options_.folder);
  save_safetensors(path_of(checkpoint.step, rank_), tensors,
                   {{"format", kFormat},
                    {"fingerprint", options_.fingerprint},
                    {"num_ranks", fmt::to_string(num_ranks_)},
                    {"step", fmt::to_string(checkpoint.step)}});
  tidy(checkpoint.step);
}

/// Leaves of this rank's files the newest and the one before it. What cannot be removed is tried again next time.
void Checkpoints::tidy(std::int64_t newest) const {
  std::int64_t before = -1;
  for (const std::int64_t step : steps_of(rank_)) {
    if (step < newest) before = std::max(before, step);
  }
  const std::string kept[] = {file_name(newest, rank_), file_name(before, rank_)};
  for (const std::string& name : names_in(options_.folder)) {
    // Longer names are those under which a writer that was killed had begun.
    const bool own = step_in(name) >= 0 && begins_with(name, file_name(step_in(name), rank_));
    std::error_code ignored;
    if (own && name != kept[0] && name != kept[1])
      std::filesystem::remove(std::filesystem::path(options_.folder) / name, ignored);
  }
}

}  // namespace lab::optc
