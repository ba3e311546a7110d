#include "grading/batch/download_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/errors.h"
#include "common/base/option_value.h"

namespace lab::grading {

std::optional<DownloadName> canvas_name(const std::string& name) {
  static const std::regex kExpression(R"(([^_]+)_(LATE_)?(\d+)_(\d+)_(.+))");
  std::smatch part;
  if (!std::regex_match(name, part, kExpression)) return std::nullopt;
  DownloadName found;
  found.student = {part[3], part[1], ""};
  found.is_late = part[2].matched;
  found.version = option::integer<std::int64_t>(part[4].str()).value_or(0);
  static const std::regex kSecondUpload(R"(-\d+(\.[^.]+|\.tar\.gz)$)");
  found.file = std::regex_replace(part[5].str(), kSecondUpload, "$1");
  return found;
}

std::optional<DownloadName> moodle_name(const std::string& name) {
  static const std::regex kExpression(R"((.+)_(\d+)_assignsubmission_file_?(.*))");
  std::smatch part;
  if (!std::regex_match(name, part, kExpression)) return std::nullopt;
  DownloadName found;
  found.student = {part[2], part[1], ""};
  found.file = part[3];
  return found;
}

NamePattern::NamePattern(const std::string& text) {
  static const std::vector<std::string> kPlaceholders = {"{id}", "{name}", "{file}", "{any}"};
  std::string expression;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '{') {
      if (std::string("\\^$.|?*+()[]}").find(text[at]) != std::string::npos) expression += '\\';
      expression += text[at++];
      continue;
    }
    const std::string placeholder = text.substr(at, text.find('}', at) - at + 1);
    if (std::find(kPlaceholders.begin(), kPlaceholders.end(), placeholder) == kPlaceholders.end())
      throw UsageError(fmt::format("--names {}: expected the placeholders {{id}}, {{name}}, {{file}}, {{any}}, got {}",
                                   text, placeholder));
    if (placeholder != "{any}" &&
        std::find(placeholders_.begin(), placeholders_.end(), placeholder) != placeholders_.end())
      throw UsageError(fmt::format("--names {}: expected {} once, got it twice", text, placeholder));
    placeholders_.push_back(placeholder);
    expression += "(.+?)";
    at += placeholder.size();
  }
  const auto has = [&](const char* placeholder) {
    return std::find(placeholders_.begin(), placeholders_.end(), placeholder) != placeholders_.end();
  };
  if (!has("{id}") && !has("{name}"))
    throw UsageError(fmt::format("--names {}: expected {{id}} or {{name}} in it; hint: '{{id}}_{{file}}'", text));
  expression_ = std::regex(expression);
}

std::optional<DownloadName> NamePattern::match(const std::string& name) const {
  std::smatch part;
  if (!std::regex_match(name, part, expression_)) return std::nullopt;
  DownloadName found;
  for (std::size_t i = 0; i < placeholders_.size(); ++i) {
    if (placeholders_[i] == "{id}") found.student.id = part[i + 1];
    if (placeholders_[i] == "{name}") found.student.name = part[i + 1];
    if (placeholders_[i] == "{file}") found.file = part[i + 1];
  }
  return found;
}

}  // namespace lab::grading
