#pragma once

#include <ATen/ATen.h>

#include <string>
#include <string_view>

// PNG and JPEG files. A picture is a tensor uint8 [height, width, 3], red green blue, on the CPU, of at least 1 x 1.
namespace lab {

constexpr int kJpegQuality = 95;                          ///< of 100; the loss is hardly visible
constexpr int64_t kMaxPictureSamples = int64_t{1} << 28;  ///< 9459 x 9459 pixels

/// Checks that the tensor is a picture.
/// Errors    ContractError: another dtype, shape or device, more than kMaxPictureSamples
void check_picture(const at::Tensor& picture);

/// The picture in a PNG or JPEG file; the ending of its name does not matter. Grey becomes three equal samples, of 16
/// bits per sample the upper 8 remain, and transparency is dropped, as by PIL's convert("RGB"), which, however, makes all
/// 16-bit grey above 255 white (9.4 and 11.1). A rotation in EXIF data is ignored.
/// Errors    UsageError: cannot be read; empty; neither PNG nor JPEG; truncated; a kind that the decoder does not know,
///           or detectable damage (a PNG's always is, a JPEG has no checksums); more than kMaxPictureSamples
at::Tensor read_picture(const std::string& path);

/// The same for a file's content; error messages contain `name`.
at::Tensor decode_picture(std::string_view bytes, const std::string& name);

/// Writes a .png, which is lossless, or a .jpg or .jpeg, which is nearly so. It appears complete or not at all.
/// Errors    UsageError: another ending, a JPEG above 65535 in height or width, cannot be written; an existing
///           file is untouched. ContractError: not a picture
void write_picture(const std::string& path, const at::Tensor& picture);

/// The content of such a file.
/// Errors    ContractError: not a picture. UsageError: a JPEG above 65535 in height or width
std::string encode_png(const at::Tensor& picture);
std::string encode_jpeg(const at::Tensor& picture);

}  // namespace lab
