#include "optC_model_parallel/model/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <utility>

#include "common/api/errors.h"
#include "common/base/checksum.h"
#include "common/base/files.h"

namespace lab::optc {
namespace {

/// A file that differs from what was written.
class DamagedFile : public UsageError {
 public:
  using UsageError::UsageError;
};

constexpr const char* kChecksum = "checksum";

std::string checksum_text(const TensorMap& tensors, const SafetensorsMetadata& metadata) {
  return fmt::format("{:016x}", compute_checksum(to_safetensors(tensors, metadata)));
}

void save_checked(const std::string& path, const TensorMap& tensors, SafetensorsMetadata metadata) {
  metadata[kChecksum] = checksum_text(tensors, metadata);
  save_safetensors(path, tensors, metadata);
}

/// Reads the file in full and compares its checksum, which is not among the metadata returned.
/// Errors    DamagedFile: it cannot be read, has changed, or has no checksum
SafetensorsContent load_checked(const std::string& path) {
  SafetensorsContent content;
  try {
    content = from_safetensors(read_file(path), path);
  } catch (const UsageError& error) {
    throw DamagedFile(error.what());
  }
  const auto kept = content.metadata.extract(kChecksum);
  if (kept.empty()) throw DamagedFile(fmt::format("'{}' is damaged: it has no checksum", path));
  const std::string actual = checksum_text(content.tensors, content.metadata);
  if (kept.mapped() != actual)
    throw DamagedFile(fmt::format("'{}' is damaged: it has the checksum {}, expected {}", path, actual, kept.mapped()));
  return content;
}

/// The step in a checkpoint's name, or in that of a temporary file that a killed writer left; -1 in others.
std::int64_t step_in(const std::string& name) {
  constexpr std::string_view kStep = "step";
  std::int64_t step = -1;
  if (name.compare(0, kStep.size(), kStep) == 0)
    std::from_chars(name.data() + kStep.size(), name.data() + name.size(), step);
  return step;
}

std::string file_name(std::int64_t step, int rank) {
  return fmt::format("step{:08}.rank{}.safetensors", step, rank);
}

/// The names of the files in a folder; none if there is no such folder.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing))
    names.push_back(entry.path().filename().string());
  return names;
}

void require_finite(const TensorMap& state, std::int64_t step) {
  for (const auto& [name, tensor] : state) {
    if (!tensor.is_floating_point()) continue;
    const at::Tensor wrong = tensor.flatten().masked_select(tensor.flatten().isfinite().logical_not());
    if (wrong.numel() == 0) continue;
    throw UsageError(
        fmt::format("after step {}: expected finite weights, got {} of {} values of '{}' that are not, the first {}; "
                    "hint: a lower --lr",
                    step, wrong.numel(), tensor.numel(), name, wrong[0].item<double>()));
  }
}

/// The newest step that every rank has; -1 if there is none. Each rank keeps two.
std::int64_t newest_common(std::vector<std::int64_t> own, Collectives& comm) {
  own.insert(own.begin(), 2, -1);
  const at::Tensor newest = at::tensor(std::vector<std::int64_t>{own.end()[-1], own.end()[-2]}, at::kLong);
  // Every rank learns what the others have, and looks for the first of its own steps that all of them have.
  const std::vector<at::Tensor> all = comm.all_gather(newest);
  for (const at::Tensor& step : newest.unbind()) {
    if (std::all_of(all.begin(), all.end(), [&](const at::Tensor& other) { return other.eq(step).any().item<bool>(); }))
      return step.item<std::int64_t>();
  }
  return -1;
}

/// "rank 3: ...; rank 5: ...": what each rank says, without those that say nothing. Of each, the first 1,000 bytes.
std::string gather_texts(const std::string& own, Collectives& comm) {
  constexpr std::size_t kMostBytes = 1000;
  const at::Tensor bytes = at::zeros({static_cast<std::int64_t>(kMostBytes)}, at::kByte);
  std::memcpy(bytes.data_ptr(), own.data(), std::min(own.size(), kMostBytes - 1));
  const std::vector<at::Tensor> all = comm.all_gather(bytes);
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::string text = static_cast<const char*>(all[rank].contiguous().data_ptr());
    if (!text.empty()) texts.push_back(fmt::format("rank {}: {}", rank, text));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace

Checkpoints::Checkpoints(CheckpointOptions options, int rank, int num_ranks, Collectives* comm)
    : options_(std::move(options)), rank_(rank), num_ranks_(num_ranks), comm_(comm) {}

std::string Checkpoints::path(std::int64_t step) const {
  return options_.folder + "/" + file_name(step, rank_);
}

std::vector<std::int64_t> Checkpoints::own_steps() const {
  std::vector<std::int64_t> steps;
  for (const std::string& name : names_in(options_.folder)) {
    if (name == file_name(step_in(name), rank_)) steps.push_back(step_in(name));
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

SafetensorsMetadata Checkpoints::identity() const {
  return {{"format", "3"}, {"fingerprint", options_.fingerprint}, {"num_ranks", fmt::to_string(num_ranks_)}};
}

Checkpoint Checkpoints::load(std::int64_t step) const {
  const SafetensorsContent file = load_checked(path(step));
  for (const auto& [what, value] : identity()) {
    const auto found = file.metadata.find(what);
    const std::string got = found == file.metadata.end() ? "" : found->second;
    if (got != value)
      throw UsageError(
          fmt::format("checkpoint '{}': expected {} '{}', got '{}'; hint: the options that it was made "
                      "with, or no --resume",
                      path(step), what, value, got));
  }
  return {step, tensors_after("state.", file.tensors), make_record(tensors_after("record.", file.tensors))};
}

void Checkpoints::note_beginning(std::int64_t step) {
  if (rank_ != 0) return;
  if (step >= 0) {
    notes_.push_back(fmt::format("--resume: the training goes on from step {} of '{}'", step, options_.folder));
    return;
  }
  const char* found = !std::filesystem::is_directory(options_.folder) ? "there is no folder"
                      : own_steps().empty()                           ? "there is no checkpoint in"
                                                                      : "no step is there on all ranks in";
  notes_.push_back(
      fmt::format("--resume: NOTHING TO GO ON FROM: {} '{}'; the training starts at step 0; hint: "
                  "--checkpoint-dir",
                  found, options_.folder));
}

std::optional<Checkpoint> Checkpoints::newest() {
  notes_.clear();
  if (!options_.resume) return std::nullopt;
  std::vector<std::int64_t> intact;
  for (const std::int64_t step : own_steps()) {
    try {
      load(step);
      intact.push_back(step);
    } catch (const DamagedFile& damage) {
      notes_.push_back(fmt::format("checkpoint of step {}: {}", step, damage.what()));
    }
  }
  std::int64_t step = intact.empty() ? -1 : intact.back();
  std::string damage = fmt::format("{}", fmt::join(notes_, "; "));
  if (comm_ != nullptr) {
    step = newest_common(intact, *comm_);
    damage = gather_texts(damage, *comm_);
  }
  if (step < 0 && !damage.empty())
    throw UsageError(
        fmt::format("--resume: no step is left that all ranks have intact: {}; hint: without --resume the training "
                    "starts over",
                    damage));
  note_beginning(step);
  if (step < 0) return std::nullopt;
  return load(step);
}

void Checkpoints::write(const Checkpoint& checkpoint) {
  require_finite(checkpoint.state, checkpoint.step);
  make_folder("--checkpoint-dir", options_.folder);
  TensorMap tensors;
  for (const auto& [name, tensor] : checkpoint.state) tensors["state." + name] = tensor;
  for (const auto& [name, tensor] : list_tensors(checkpoint.record)) tensors["record." + name] = tensor;
  save_checked(path(checkpoint.step), tensors, identity());
  tidy(checkpoint.step);
}

/// Keeps this rank's newest file and the one before it, and removes the others. If one cannot be removed, the next call
/// tries again.
void Checkpoints::tidy(std::int64_t newest) const {
  std::int64_t before = -1;
  for (const std::int64_t step : own_steps()) {
    if (step < newest) before = step;
  }
  for (const std::string& name : names_in(options_.folder)) {
    const std::int64_t step = step_in(name);
    const std::string own = file_name(step, rank_);
    std::error_code ignored;
    // A longer name is a temporary file's.
    if (step >= 0 && name.compare(0, own.size(), own) == 0 && (name != own || (step != newest && step != before)))
      std::filesystem::remove(std::filesystem::path(options_.folder) / name, ignored);
  }
}

}  // namespace lab::optc
