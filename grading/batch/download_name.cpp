#include "grading/batch/download_name.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "common/api/errors.h"
#include "common/base/option_value.h"
#include "common/base/text.h"

namespace lab::grading {
namespace {

/// Letters, digits, and marks that no composed letter has.
bool is_of_word(utf8proc_int32_t letter) {
  const utf8proc_category_t category = utf8proc_category(letter);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
}

std::vector<std::string> split_words(std::string_view name) {
  std::string spaced = folded(name);
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  std::vector<std::string> words;
  for (const std::string_view word : split(spaced, ' ')) {
    if (std::string letters = keep_letters(word); !letters.empty()) words.push_back(std::move(letters));
  }
  std::sort(words.begin(), words.end());
  return words;
}

/// Whether the words are `whole` when they are written together in some order.
bool make_up(std::vector<std::string> words, const std::string& whole) {
  constexpr std::size_t kMostWords = 6;
  if (words.size() > kMostWords) return false;
  do {
    std::string joined;
    for (const std::string& word : words) joined += word;
    if (joined == whole) return true;
  } while (std::next_permutation(words.begin(), words.end()));
  return false;
}

}  // namespace

std::string folded(std::string_view text) {
  utf8proc_uint8_t* mapped = nullptr;
  constexpr auto kHow = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT |
                                                       UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &mapped, kHow);
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> freed(mapped, std::free);
  if (size < 0) return one_line(text);  // not UTF-8
  return one_line({reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(size)});
}

std::string keep_letters(std::string_view text) {
  const std::string all = folded(text);
  std::string letters;
  for (std::size_t at = 0; at < all.size();) {
    utf8proc_int32_t letter = -1;
    const utf8proc_ssize_t size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(all.data() + at),
                                                   static_cast<utf8proc_ssize_t>(all.size() - at), &letter);
    if (size <= 0) return all;  // not UTF-8
    if (is_of_word(letter)) letters.append(all, at, static_cast<std::size_t>(size));
    at += static_cast<std::size_t>(size);
  }
  return letters;
}

bool is_same_name(std::string_view a, std::string_view b) {
  const std::vector<std::string> words_a = split_words(a), words_b = split_words(b);
  if (words_a.empty() || words_b.empty()) return false;
  return words_a == words_b || (words_b.size() == 1 && make_up(words_a, words_b[0])) ||
         (words_a.size() == 1 && make_up(words_b, words_a[0]));
}

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
