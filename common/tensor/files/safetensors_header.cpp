#include "common/tensor/files/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "common/api/errors.h"
#include "common/api/shapes.h"

namespace lab {
namespace {

using nlohmann::json;

constexpr const char* kMetadataKey = "__metadata__";
constexpr int kMaxDepth = 3;  // the header, a tensor, its shape

using NamedDtype = std::pair<std::string_view, at::ScalarType>;
constexpr std::array<NamedDtype, 10> kFormatDtypes = {{
    {"F64", at::kDouble},
    {"F32", at::kFloat},
    {"F16", at::kHalf},
    {"BF16", at::kBFloat16},
    {"I64", at::kLong},
    {"I32", at::kInt},
    {"I16", at::kShort},
    {"I8", at::kChar},
    {"U8", at::kByte},
    {"BOOL", at::kBool},
}};

std::string format_dtype(const SafetensorsEntry& entry) {
  for (const auto& [name, dtype] : kFormatDtypes) {
    if (dtype == entry.dtype) return std::string(name);
  }
  throw UsageError(fmt::format("Tensor {} is {}, which safetensors files cannot hold.", quoted_name(entry.name),
                               dtype_name(entry.dtype)));
}

/// Reads one header. A class only so that every message names the file.
class Parser {
 public:
  explicit Parser(const std::string& path) : path_(path) {}

  json parse(std::string_view text) const {
    if (text.empty() || text.front() != '{') refuse("its header must begin with '{'");
    // The parser takes a zero byte for the end and would ignore the rest.
    if (text.find('\0') != text.npos) refuse(fmt::format("its header is not JSON, at byte {}", text.find('\0') + 1));
    // One set of keys per object that is open: the parser itself would silently keep the last of two equal keys.
    std::vector<std::set<std::string>> keys;
    const auto watch = [&](int depth, json::parse_event_t event, const json& parsed) {
      if (depth > kMaxDepth) refuse(fmt::format("its header is nested deeper than {} levels", kMaxDepth));
      if (event == json::parse_event_t::object_start) keys.emplace_back();
      if (event == json::parse_event_t::object_end) keys.pop_back();
      if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second) {
        refuse(fmt::format("its header has the key {} twice", quoted_name(parsed.get<std::string>())));
      }
      return true;
    };
    try {
      return json::parse(text.begin(), text.end(), watch);
    } catch (const json::parse_error& error) {
      refuse(fmt::format("its header is not JSON, at byte {}", error.byte));
    } catch (const json::out_of_range&) {
      refuse("its header has a number that is too large");
    }
  }

  std::map<std::string, std::string> metadata(const json& value) const {
    std::map<std::string, std::string> result;
    if (value.is_null()) return result;  // as the format's own reader takes it
    if (!value.is_object()) refuse("its __metadata__ is not an object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) refuse(fmt::format("its __metadata__ {} is not a string", quoted_name(key)));
      result[key] = text.get<std::string>();
    }
    return result;
  }

  SafetensorsEntry entry(const std::string& name, const json& value) const {
    if (!value.is_object() || value.size() != 3 || !value.contains("dtype") || !value.contains("shape") ||
        !value.contains("data_offsets")) {
      refuse(fmt::format("tensor {} must have exactly dtype, shape and data_offsets", quoted_name(name)));
    }
    SafetensorsEntry result;
    result.name = name;
    result.dtype = dtype(name, value["dtype"]);
    for (const uint64_t size : numbers(name, "shape", value["shape"])) {
      if (size > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        refuse(fmt::format("tensor {} has a size of {} in its shape", quoted_name(name), size));
      }
      result.shape.push_back(static_cast<int64_t>(size));
    }
    const std::vector<uint64_t> offsets = numbers(name, "data_offsets", value["data_offsets"]);
    if (offsets.size() != 2) {
      refuse(fmt::format("tensor {} has {} data_offsets, expected 2", quoted_name(name), offsets.size()));
    }
    result.begin_bytes = offsets[0];
    result.end_bytes = offsets[1];
    return result;
  }

 private:
  at::ScalarType dtype(const std::string& name, const json& value) const {
    const std::string text = value.is_string() ? value.get<std::string>() : "not a string";
    const auto found = std::find_if(kFormatDtypes.begin(), kFormatDtypes.end(),
                                    [&](const auto& known) { return known.first == text; });
    if (found != kFormatDtypes.end()) return found->second;
    refuse(fmt::format("tensor {} has the unknown dtype {}", quoted_name(name), quoted_name(text)));
  }

  std::vector<uint64_t> numbers(const std::string& name, std::string_view field, const json& value) const {
    const bool whole = value.is_array() && std::all_of(value.begin(), value.end(),
                                                       [](const json& item) { return item.is_number_unsigned(); });
    if (!whole) {
      refuse(fmt::format("{} of tensor {} must be a list of integers from 0 to 2^64 - 1", field, quoted_name(name)));
    }
    return value.get<std::vector<uint64_t>>();
  }

  [[noreturn]] void refuse(const std::string& reason) const {
    throw UsageError(fmt::format("'{}' is not a usable safetensors file: {}.", path_, reason));
  }

  const std::string& path_;
};

}  // namespace

std::string quoted_name(const std::string& name) {
  constexpr size_t kShown = 80;
  std::string text = json(name).dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kShown) text = text.substr(0, kShown) + "...\"";
  return text;
}

std::string format_safetensors_header(const SafetensorsHeader& header) {
  json root = json::object();
  if (!header.metadata.empty()) root[kMetadataKey] = header.metadata;
  for (const SafetensorsEntry& entry : header.entries) {
    if (entry.name == kMetadataKey) throw UsageError("A tensor cannot be named __metadata__ in a safetensors file.");
    root[entry.name] = {
        {"dtype", format_dtype(entry)}, {"shape", entry.shape}, {"data_offsets", {entry.begin_bytes, entry.end_bytes}}};
  }
  std::string text;
  try {
    text = root.dump();
  } catch (const json::type_error&) {
    throw UsageError("Names and metadata in a safetensors file must be UTF-8.");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

SafetensorsHeader parse_safetensors_header(std::string_view text, const std::string& path) {
  const Parser parser(path);
  const json root = parser.parse(text);
  SafetensorsHeader header;
  for (const auto& [name, value] : root.items()) {
    if (name == kMetadataKey) {
      header.metadata = parser.metadata(value);
    } else {
      header.entries.push_back(parser.entry(name, value));
    }
  }
  return header;
}

}  // namespace lab
