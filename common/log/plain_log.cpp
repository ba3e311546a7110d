#include "common/log/plain_log.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>

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
  const bool has_weekday = !has_date && take_form(rest, "AAA AAA _0 ");  // of ctime(): the year is at the end
  if (!has_date && !has_weekday) take_form(rest, "AAA _0 ");
  if (!take_form(rest, "00:00:00") || (has_weekday && !take_form(rest, " 0000"))) return false;
  if (take_literal(rest, ".") || take_literal(rest, ",")) {
    if (!take_digits(rest)) return false;
  }
  if (!take_literal(rest, "Z") && (take_literal(rest, "+") || take_literal(rest, "-"))) {
    if (!take_form(rest, "00:00") && !take_form(rest, "0000")) return false;
  }
  text = rest;
  return true;
}

/// "<stdout>:", which Open MPI puts behind the time or a tag
bool take_stream(std::string_view& text) {
  return take_literal(text, "<stdout>:") || take_literal(text, "<stderr>:");
}

void take_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
}

/// A word without blanks and brackets.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, std::min(text.find_first_of(" []"), text.size()));
  text.remove_prefix(word.size());
  return word;
}

/// "12:34:56 ", "[12:34:56] ", "Fri Jan 31 12:34:56 2025[1,0]<stdout>:"
bool take_stamp(std::string_view& line) {
  std::string_view rest = line;
  const bool in_brackets = take_literal(rest, "[");
  if (!take_time(rest) || (in_brackets && !take_literal(rest, "]"))) return false;
  const bool ended = take_literal(rest, " ") || take_literal(rest, "\t") || in_brackets || take_stream(rest) ||
                     rest.substr(0, 1) == "[";
  if (ended) line = rest;
  return ended;
}

/// "[default0]:", "[1,0]<stdout>:", "[1,0][node0:99]<stdout>:", "0: ", "  0: "
bool take_launcher_tag(std::string_view& line) {
  std::string_view rest = line;
  if (take_literal(rest, "[")) {
    const std::string_view name = take_word(rest);
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name.back())) == 0) return false;
    if (take_literal(rest, "][")) {
      take_word(rest);
      if (!take_literal(rest, "]") || !take_stream(rest)) return false;
    } else if (!take_literal(rest, "]") || (!take_stream(rest) && !take_literal(rest, ":"))) {
      return false;
    }
    take_literal(rest, " ");
  } else {
    take_blanks(rest);  // srun pads the number to the width of the largest
    if (!take_digits(rest) || !take_literal(rest, ": ")) return false;
  }
  line = rest;
  return true;
}

/// The labels of which only a line of a log behind them, and no text, shows that they are labels.
bool take_label(std::string_view& line) {
  std::string_view rest = line;
  if (take_literal(rest, "[")) {  // "[0] ", "[pod/a4-0/main] "
    const std::string_view name = take_word(rest);
    const bool is_number = name.find_first_not_of("0123456789") == name.npos;
    if (name.empty() || (!is_number && name.find('/') == name.npos) || !take_literal(rest, "] ")) return false;
  } else if (!take_literal(rest, "stdout F ") && !take_literal(rest, "stderr F ")) {
    const std::string_view name = take_word(rest);
    if (name.empty()) return false;
    if (name.back() == ':') {  // "node0: "
      if (!take_literal(rest, " ")) return false;
    } else {  // "rank0-1  | ", "node0 a4_data_tensor[100]: "
      take_blanks(rest);
      if (!take_literal(rest, "| ")) {
        if (take_word(rest).empty() || !take_literal(rest, "[") || !take_digits(rest) || !take_literal(rest, "]: "))
          return false;
      }
    }
  }
  if (rest.substr(0, 1) != "[") return false;
  line = rest;
  return true;
}

}  // namespace

std::optional<std::string> plain_log(const std::string& bytes) {
  const std::optional<Utf8Text> text = utf8_text(bytes);
  if (!text) return std::nullopt;
  std::string plain;
  for (const std::string& with_break : list_lines(text->text)) {
    const bool whole = with_break.back() == '\n';
    std::string own = without_escapes(std::string_view(with_break).substr(0, with_break.size() - (whole ? 1 : 0)));
    while (!own.empty() && own.back() == '\r') own.pop_back();
    std::string_view line = own;
    while (take_stamp(line) || take_launcher_tag(line) || take_label(line)) continue;
    plain.append(line).append(whole ? "\n" : "");
  }
  return plain;
}

}  // namespace lab::log
