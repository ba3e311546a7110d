#include "common/report/line_template.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "common/report/errors.h"
#include "common/report/line_head.h"
#include "common/report/match_line.h"

namespace lab {
namespace {

bool is_whole_number(std::string_view text) {
  return take_number(text) && text.empty();
}

bool is_number(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

/// Letters, digits and what joins them in a name or a list.
bool is_word(std::string_view text) {
  const auto belongs = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '.' || c == ','; };
  return !text.empty() && std::all_of(text.begin(), text.end(), belongs);
}

bool fills(std::string_view field, std::string_view text) {
  if (field == "node") return text == "N/A" || is_whole_number(text);
  if (field == "index") return is_whole_number(text);
  if (field == "device") return text == "GPU" || text == "CPU";
  if (field == "number") return is_number(text);
  if (field == "figure") return is_number(text) && parse_figure(text).has_value();
  if (field == "word") return is_word(text);
  throw ContractError("a log template: unknown field {" + std::string(field) +
                      "}; expected node, index, device, number, figure or word");
}

}  // namespace

bool matches_template(std::string_view line_template, std::string_view text) {
  const std::size_t open = line_template.find('{');
  if (open == std::string_view::npos) return line_template == text;
  const std::size_t close = line_template.find('}', open);
  if (close == std::string_view::npos) throw ContractError("a log template: '{' without '}'");
  const std::string_view field = line_template.substr(open + 1, close - open - 1);
  fills(field, "");  // an unknown field is found even where the text already differs
  if (!take_literal(text, line_template.substr(0, open))) return false;
  // A field has no fixed length: try each, and let the rest of the template decide.
  for (std::size_t length = 1; length <= text.size(); ++length) {
    if (fills(field, text.substr(0, length)) &&
        matches_template(line_template.substr(close + 1), text.substr(length))) {
      return true;
    }
  }
  return false;
}

}  // namespace lab
