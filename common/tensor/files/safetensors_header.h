#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

/// Dtype, shape and position of one tensor of a safetensors file. Offsets count from the end of the header.
struct SafetensorsEntry {
  std::string name;
  at::ScalarType dtype = at::kFloat;
  std::vector<int64_t> shape;
  uint64_t begin_bytes = 0;
  uint64_t end_bytes = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;
  std::map<std::string, std::string> metadata;
};

/// The header's JSON text, padded with spaces to a multiple of 8 bytes.
/// Errors    UsageError: a dtype without a name in the format, a reserved name, a name that is not UTF-8
std::string format_safetensors_header(const SafetensorsHeader& header);

/// Parses a header's JSON text. Checks the form: a JSON object, no key twice, only known fields, known dtypes, non-negative
/// integers. check_safetensors_layout() checks that the numbers fit the file.
/// Errors    UsageError: what is wrong and where; `path` names the file in the message
SafetensorsHeader parse_safetensors_header(std::string_view text, const std::string& path);

/// A name from a file, made safe for a message: quoted, unprintable characters escaped, shortened.
std::string quoted_name(const std::string& name);

}  // namespace lab
