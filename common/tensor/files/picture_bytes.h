#pragma once

#include <string>
#include <string_view>

namespace lab {

enum class PictureFormat { kPng, kJpeg };

/// The format of a picture file, by its content, after checking that the file is complete. The decoder itself would
/// fill up a truncated JPEG with grey, and ignores a PNG's checksums. Bytes after the picture's end are ignored.
/// Errors    UsageError: empty; neither PNG nor JPEG; truncated; a PNG with a wrong checksum, a JPEG with malformed
///           segments. The message contains `name`
/// Source    https://www.w3.org/TR/png
PictureFormat check_picture_bytes(std::string_view bytes, const std::string& name);

/// Throws the UsageError for a file that is not a picture.
[[noreturn]] void refuse_picture(const std::string& name, const std::string& reason);

/// The same for a truncated picture.
[[noreturn]] void refuse_short_picture(std::string_view bytes, const std::string& name);

}  // namespace lab
