#pragma once

#include <string>
#include <string_view>

namespace lab {

/// Returns if the JPEG is whole, from its start to its end marker, and its Huffman tables have at most 256 codes each,
/// beyond which the decoder would write outside of its own.
/// Errors    UsageError: cut short; something else where a segment should begin; such a table
/// Source    ITU-T T.81, annex B
void check_jpeg_segments(std::string_view bytes, const std::string& name);

}  // namespace lab
