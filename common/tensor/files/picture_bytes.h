#pragma once

#include <string>
#include <string_view>

namespace lab {

enum class PictureFormat { kPng, kJpeg };

/// The format of a picture's file, by its content, once the file is known to be whole. The decoder behind it would fill
/// up a JPEG that was cut short with grey, and does not look at a PNG's checksums.
/// Errors    UsageError: empty; neither PNG nor JPEG; cut short; a PNG with a wrong checksum, a JPEG whose parts do not
///           join. Name stands in the message. Bytes after the picture's end are ignored
/// Source    https://www.w3.org/TR/png
PictureFormat check_picture_bytes(std::string_view bytes, const std::string& name);

/// Throws the UsageError with which every file that is no picture is refused.
[[noreturn]] void refuse_picture(const std::string& name, const std::string& reason);

/// The same for one that was cut short.
[[noreturn]] void refuse_short_picture(std::string_view bytes, const std::string& name);

}  // namespace lab
