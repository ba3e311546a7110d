#include "common/log/plain_log.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>

#include "common/base/escape_sequences.h"
#include "common/base/text.h"
#include "common/base/utf8_text.h"
#include "common/log/line_head.h"

namespace lab::log {
namespace {

/// Takes a text of this form from the front: '0' stands for a digit, '_' for a digit or a space, 'A' for a letter.
bool take_form(std::string_view& text, std::string_view form) {
  if (text.size() < form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool fits = form[i] == '0'   ? std::isdigit(c) != 0
                      : form[i] == '_' ? std::isdigit(c) != 0 || c == ' '
                      : form[i] == 'A' ? std::isalpha(c) != 0
                                       : text[i] == form[i];
    if (!fits) return false;
  }
  text.remove_prefix(form.size());
  return true;
}

bool take_digits(std::string_view& text) {
  const std::size_t length = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(length);
  return length > 0;
}

/// "2025-01-31 12:34:56.789+01:00", or its time alone.
bool take_time(std::string_view& text) {
  std::string_view rest = text;
  const bool has_date = take_form(rest, "0000-00-00") || take_form(rest, "0000/00/00");
  if (has_date && !take_literal(rest, "T") && !take_literal(rest, " ")) return false;
  if (!has_date) take_form(rest, "AAA _0 ");
  if (!take_form(rest, "00:00:00")) return false;
  if (take_literal(rest, ".") || take_literal(rest, ",")) {
    if (!take_digits(rest)) return false;
  }
  if (!take_literal(rest, "Z") && (take_literal(rest, "+") || take_literal(rest, "-"))) {
    if (!take_form(rest, "00:00") && !take_form(rest, "0000")) return false;
  }
  text = rest;
  return true;
}

/// "12:34:56 ", "[12:34:56] "
bool take_stamp(std::string_view& line) {
  std::string_view rest = line;
  const bool in_brackets = take_literal(rest, "[");
  if (!take_time(rest) || (in_brackets && !take_literal(rest, "]"))) return false;
  if (!take_literal(rest, " ") && !take_literal(rest, "\t") && !in_brackets) return false;
  line = rest;
  return true;
}

/// "[default0]:", "[1,0]<stdout>:", "0: "
bool take_launcher_tag(std::string_view& line) {
  std::string_view rest = line;
  if (take_literal(rest, "[")) {
    const std::string_view name = rest.substr(0, std::min(rest.find_first_of(" []"), rest.size()));
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name.back())) == 0) return false;
    rest.remove_prefix(name.size());
    if (!take_literal(rest, "]")) return false;
    if (!take_literal(rest, "<stdout>")) take_literal(rest, "<stderr>");
    if (!take_literal(rest, ":")) return false;
    take_literal(rest, " ");
  } else {
    take_literal(rest, " ");  // srun pads the number
    if (!take_digits(rest) || !take_literal(rest, ": ")) return false;
  }
  line = rest;
  return true;
}

}  // namespace

std::optional<std::string> plain_log(const std::string& bytes) {
  const std::optional<Utf8Text> text = utf8_text(bytes);
  if (!text) return std::nullopt;
  std::string plain;
  for (const std::string& with_break : lines_of(text->text)) {
    const bool whole = with_break.back() == '\n';
    std::string own = without_escapes(std::string_view(with_break).substr(0, with_break.size() - (whole ? 1 : 0)));
    while (!own.empty() && own.back() == '\r') own.pop_back();
    std::string_view line = own;
    while (take_stamp(line) || take_launcher_tag(line)) continue;
    plain.append(line).append(whole ? "\n" : "");
  }
  return plain;
}

}  // namespace lab::log
