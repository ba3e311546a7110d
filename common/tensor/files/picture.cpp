#include "common/tensor/files/picture.h"

#include <fmt/format.h>
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <new>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/tensor/describe.h"
#include "common/tensor/files/mapped_file.h"
#include "common/tensor/files/picture_bytes.h"

namespace lab {
namespace {

constexpr int kChannels = 3;
constexpr int64_t kMaxJpegSize = 65535;         // the format's: 16 bits
constexpr int64_t kMaxJpegPixelsPerByte = 512;  // a block of 8 x 8 takes a bit at least

/// Why stb refused the last file. It tries one format after the other, so a bad header leaves the reason of another.
std::string refusal_words() {
  std::string reason = stbi_failure_reason();
  if (reason == "bad png sig" || reason == "no SOI" || reason == "unknown image type")
    return "its header is damaged, or of a kind that the decoder does not know";
  for (char& letter : reason) {
    if (letter < ' ' || letter > '~') letter = '?';  // a damaged chunk's name
  }
  return "the decoder says: " + reason;
}

/// Called by stb with the next part of a file.
void append(void* text, void* bytes, int num_bytes) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), static_cast<size_t>(num_bytes));
}

/// Encodes with stb's function for the format, whose last argument depends on the format.
template <typename Encoder>
std::string encoded(const at::Tensor& picture, Encoder encoder, int last_argument) {
  const at::Tensor samples = picture.contiguous();
  const int height = static_cast<int>(samples.size(0));
  const int width = static_cast<int>(samples.size(1));
  std::string text;
  if (encoder(append, &text, width, height, kChannels, samples.data_ptr(), last_argument) == 0) throw std::bad_alloc();
  return text;
}

std::string lower_case_ending(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  return ending;
}

}  // namespace

void check_picture(const at::Tensor& picture) {
  const bool is_picture = picture.defined() && picture.scalar_type() == at::kByte && picture.dim() == 3 &&
                          picture.size(2) == kChannels && picture.device().is_cpu() && picture.numel() > 0 &&
                          picture.numel() <= kMaxPictureSamples;
  if (is_picture) return;
  throw ContractError(fmt::format("A picture is uint8 [height, width, 3] on the CPU with 1 to 2^28 samples, got {}.",
                                  describe(picture)));
}

at::Tensor decode_picture(std::string_view bytes, const std::string& name) {
  const PictureFormat format = check_picture_bytes(bytes, name);
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    refuse_picture(name, fmt::format("it has {} bytes, expected less than 2^31", bytes.size()));
  const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
  const int num_bytes = static_cast<int>(bytes.size());
  int width = 0, height = 0, file_channels = 0;
  if (stbi_info_from_memory(data, num_bytes, &width, &height, &file_channels) == 0)
    refuse_picture(name, refusal_words());
  const int64_t pixels = int64_t{height} * width;
  if (pixels > kMaxPictureSamples / kChannels)
    refuse_picture(
        name, fmt::format("it has {} x {} pixels, expected at most {}", height, width, kMaxPictureSamples / kChannels));
  if (format == PictureFormat::kJpeg && pixels / kMaxJpegPixelsPerByte > num_bytes)
    refuse_picture(name,
                   fmt::format("{} bytes cannot hold the {} x {} pixels that it claims", num_bytes, height, width));
  const std::unique_ptr<stbi_uc, void (*)(void*)> samples(
      stbi_load_from_memory(data, num_bytes, &width, &height, &file_channels, kChannels), stbi_image_free);
  if (samples == nullptr) refuse_picture(name, refusal_words());
  at::Tensor picture = at::empty({height, width, kChannels}, at::kByte);
  std::memcpy(picture.data_ptr(), samples.get(), picture.nbytes());
  return picture;
}

at::Tensor read_picture(const std::string& path) {
  const MappedFile file(path);
  return decode_picture({file.data(), file.size_bytes()}, path);
}

std::string encode_png(const at::Tensor& picture) {
  check_picture(picture);
  return encoded(picture, stbi_write_png_to_func, static_cast<int>(picture.size(1)) * kChannels);
}

std::string encode_jpeg(const at::Tensor& picture) {
  check_picture(picture);
  if (picture.size(0) > kMaxJpegSize || picture.size(1) > kMaxJpegSize) {
    throw UsageError(fmt::format("A JPEG file holds at most {0} x {0} pixels, got {1} x {2}; write a .png instead.",
                                 kMaxJpegSize, picture.size(0), picture.size(1)));
  }
  return encoded(picture, stbi_write_jpg_to_func, kJpegQuality);
}

void write_picture(const std::string& path, const at::Tensor& picture) {
  const std::string ending = lower_case_ending(path);
  if (ending != ".png" && ending != ".jpg" && ending != ".jpeg")
    throw UsageError(fmt::format("cannot write '{}': expected a name that ends in .png, .jpg or .jpeg", path));
  write_file_atomically(path, ending == ".png" ? encode_png(picture) : encode_jpeg(picture));
}

}  // namespace lab
