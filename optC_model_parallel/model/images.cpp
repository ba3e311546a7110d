#include "optC_model_parallel/model/images.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <system_error>
#include <utility>

#include "common/api/errors.h"
#include "common/tensor/files/mapped_file.h"

namespace lab::optc {

EpochBatches::EpochBatches(std::int64_t num_images, std::int64_t batch_size, std::uint64_t seed, std::int64_t epoch)
    : EpochBatches(at::tensor(epoch_order(num_images, seed, epoch), at::kLong), batch_size) {}

EpochBatches::EpochBatches(at::Tensor order, std::int64_t batch_size)
    : order_(std::move(order)), batch_size_(batch_size) {
  if (batch_size < 1) throw ContractError(fmt::format("A batch must have at least 1 image, got {}.", batch_size));
}

std::int64_t EpochBatches::size() const {
  return num_batches(order_.size(0), batch_size_);
}

at::Tensor EpochBatches::indices(std::int64_t batch) const {
  if (batch < 0 || batch >= size())
    throw ContractError(fmt::format("The epoch has the batches 0 to {}: there is no batch {}.", size() - 1, batch));
  const std::int64_t begin = batch * batch_size_;
  return order_.narrow(0, begin, std::min(batch_size_, order_.size(0) - begin));
}

std::int64_t num_batches(std::int64_t num_images, std::int64_t batch_size) {
  return (num_images + batch_size - 1) / batch_size;
}

at::Tensor normalized(const Images& images, const at::Tensor& indices, const at::TensorOptions& options) {
  return images.pixels.index_select(0, indices).to(options.device()).to(options).div_(255).sub_(0.5).div_(0.5);
}

at::Tensor take_labels(const Images& images, const at::Tensor& indices) {
  return images.labels.index_select(0, indices);
}

namespace {

constexpr std::int64_t kPixelBytes = kImageChannels * kImageSide * kImageSide;
constexpr std::int64_t kRecordBytes = 1 + kPixelBytes;    // label, red, green, blue
constexpr std::int64_t kCifar100Bytes = 2 + kPixelBytes;  // a coarse and a fine label

constexpr const char* kKnownNames = "data_batch_1.bin ... and test_batch.bin, or *train*.bin and *test*.bin";

/// The names of the .bin files, sorted: directory order differs between machines.
std::vector<std::string> bin_files(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::error_code not_to_be_seen;
    if (entry->path().extension() == ".bin" && entry->is_regular_file(not_to_be_seen))
      names.push_back(entry->path().filename().string());
  }
  if (error)
    throw UsageError(fmt::format("'{}': expected a folder with CIFAR-10's binary files ({}): {}", folder, kKnownNames,
                                 error.message()));
  std::sort(names.begin(), names.end());
  return names;
}

/// The paths of the files with CIFAR-10's own names, or else of those with others.
std::vector<std::string> choose_files(const std::string& folder, const char* own_names, const char* other_names) {
  const std::vector<std::string> names = bin_files(folder);
  for (const char* wanted : {own_names, other_names}) {
    std::vector<std::string> paths;
    for (const std::string& name : names) {
      if (std::regex_match(name, std::regex(wanted))) paths.push_back((std::filesystem::path(folder) / name).string());
    }
    if (!paths.empty()) return paths;
  }
  constexpr const char* kBinaryVersion = "cifar-10-batches-bin";
  const auto has = [&](const char* name) { return std::filesystem::exists(std::filesystem::path(folder) / name); };
  const std::string hint =
      has(kBinaryVersion)
          ? fmt::format("name the folder in it, '{}'", (std::filesystem::path(folder) / kBinaryVersion).string())
          : fmt::format("{}download cifar-10-binary.tar.gz, and name its folder {}",
                        has("data_batch_1") ? "these are the files of the Python version; " : "", kBinaryVersion);
  throw UsageError(fmt::format("'{}': expected the files of CIFAR-10's binary version ({}), got none for {}; hint: {}",
                               folder, kKnownNames, own_names[0] == 't' ? "testing" : "training", hint));
}

std::int64_t num_records(const std::string& path, std::int64_t num_bytes) {
  if (num_bytes > 0 && num_bytes % kRecordBytes == 0) return num_bytes / kRecordBytes;
  const char* hint = num_bytes == 0                    ? "the file is empty"
                     : num_bytes % kCifar100Bytes == 0 ? "the size fits CIFAR-100, which has a different layout: "
                                                         "download CIFAR-10, binary version"
                                                       : "the file has been cut short, or is of another kind";
  throw UsageError(
      fmt::format("'{}': expected a multiple of CIFAR-10's record size of {} bytes, got {} bytes; hint: {}", path,
                  kRecordBytes, num_bytes, hint));
}

void require_labels(const std::string& path, const at::Tensor& labels) {
  const at::Tensor wrong = at::nonzero(labels >= kNumClasses);
  if (wrong.numel() == 0) return;
  const auto record = wrong[0].item<std::int64_t>();
  throw UsageError(fmt::format("'{}': expected labels from 0 to {}, got {} in record {} (counted from 0, at byte {})",
                               path, kNumClasses - 1, labels[record].item<std::int64_t>(), record,
                               record * kRecordBytes));
}

Images read_one(const std::string& path) {
  const MappedFile file(path);
  const std::int64_t num_images = num_records(path, static_cast<std::int64_t>(file.size_bytes()));
  const at::Tensor records = at::from_blob(file.data(), {num_images, kRecordBytes}, at::kByte);
  Images images;
  images.labels = records.select(1, 0).to(at::kLong);
  require_labels(path, images.labels);
  const at::Tensor pixels = records.narrow(1, 1, kPixelBytes).clone(at::MemoryFormat::Contiguous);
  images.pixels = pixels.view({num_images, kImageChannels, kImageSide, kImageSide});
  return images;
}

}  // namespace

// "data_batch_3.bin", but no copy of it: "data_batch_3 (1).bin"; and no image is for both: "latest_train.bin".
CifarFiles::CifarFiles(const std::string& folder)
    : train(choose_files(folder, "data_batch_[0-9]+\\.bin", ".*train.*")),
      test(choose_files(folder, "test_batch\\.bin", "(?!data_batch_|.*train).*test.*")) {}

Images read_cifar(const std::vector<std::string>& files, const std::function<void()>& on_file) {
  if (files.empty()) throw ContractError("Reading images of CIFAR-10 takes at least one file, got none.");
  std::vector<at::Tensor> pixels, labels;
  for (const std::string& path : files) {
    Images images = read_one(path);
    pixels.push_back(std::move(images.pixels));
    labels.push_back(std::move(images.labels));
    if (on_file) on_file();
  }
  return {at::cat(pixels), at::cat(labels)};
}

Dataset load_cifar(const std::string& folder, const std::function<void()>& on_file) {
  const CifarFiles files(folder);
  return {read_cifar(files.train, on_file), read_cifar(files.test, on_file)};
}

}  // namespace lab::optc
