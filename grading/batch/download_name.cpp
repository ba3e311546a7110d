#include "grading/batch/download_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/errors.h"
#include "common/base/option_value.h"
#include "common/base/text.h"

namespace lab::grading {

namespace {

std::optional<std::int64_t> number_in(const std::string& part) {
  return part.empty() || part.front() == '0' ? std::nullopt : option::integer<std::int64_t>(part);
}

/// Without Canvas' "-1" of a second upload.
std::string own_name(const std::string& file) {
  static const std::regex kSecondUpload(R"(-\d+(\.[^.]+|\.tar\.[^.]+)$)");
  return std::regex_replace(file, kSecondUpload, "$1");
}

}  // namespace

std::vector<DownloadName> canvas_names(const std::string& name) {
  static const std::regex kAnonymous(R"((anon_(LATE_)?[A-Za-z0-9]{5})_(LATE_)?(\d+)_(.+))");
  if (std::smatch part; std::regex_match(name, part, kAnonymous))
    return {{{}, part[1], own_name(part[5]), part[2].matched || part[3].matched, number_in(part[4]).value_or(0)}};
  const std::vector<std::string_view> parts = split(name, '_');
  std::vector<std::pair<std::int64_t, DownloadName>> ways;
  for (std::size_t i = 1; i + 2 < parts.size(); ++i) {
    const auto user = number_in(std::string(parts[i])), upload = number_in(std::string(parts[i + 1]));
    const auto length = static_cast<std::size_t>(parts[i].data() - name.data());
    const std::string file = name.substr(length + parts[i].size() + 1 + parts[i + 1].size() + 1);
    if (!user || !upload || file.empty() || length < 2) continue;
    const bool is_late = i > 1 && parts[i - 1] == "LATE";
    const std::string of = name.substr(0, length - 1 - (is_late ? std::string("_LATE").size() : 0));
    // Users and uploads have larger numbers than teams.
    ways.push_back({std::min(*user, *upload),
                    {{std::string(parts[i]), of, "", Student::IdOf::kCanvas}, "", own_name(file), is_late, *upload}});
  }
  std::stable_sort(ways.begin(), ways.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<DownloadName> names;
  for (auto& way : ways) names.push_back(std::move(way.second));
  return names;
}

std::optional<DownloadName> moodle_name(const std::string& name) {
  // A name has no underscores there; what comes after the first of these is the student's.
  static const std::regex kExpression(R"((.+?)_(\d+)_assignsubmission_(?:file|onlinetext)_?(.*))");
  std::smatch part;
  if (!std::regex_match(name, part, kExpression)) return std::nullopt;
  return DownloadName{{part[2], part[1], "", Student::IdOf::kMoodle}, "", part[3]};
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
