#include "common/log/line_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

#include "common/api/errors.h"
#include "common/log/line_head.h"
#include "common/log/match_line.h"

namespace lab::log {
namespace {

/// A template's first field, and what is around it.
struct Field {
  std::string_view before, name, format, after;  ///< format: with its colon, ":.2f"; may be empty
};

std::optional<Field> first_field(std::string_view line_template) {
  const std::size_t open = line_template.find('{');
  if (open == std::string_view::npos) return std::nullopt;
  const std::size_t close = line_template.find('}', open);
  if (close == std::string_view::npos) throw ContractError("a log template: '{' without '}'");
  const std::string_view whole = line_template.substr(open + 1, close - open - 1);
  const std::size_t colon = std::min(whole.find(':'), whole.size());
  return Field{line_template.substr(0, open), whole.substr(0, colon), whole.substr(colon),
               line_template.substr(close + 1)};
}

std::string with_fields(std::string_view line_template, const std::function<std::string(const Field&)>& replacement) {
  std::string text;
  while (const std::optional<Field> field = first_field(line_template)) {
    text.append(field->before).append(replacement(*field));
    line_template = field->after;
  }
  return text.append(line_template);
}

bool is_whole_number(std::string_view text) {
  return take_number(text) && text.empty();
}

bool is_number(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

/// Letters, digits and the characters that join them in a name or a list.
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
  const std::optional<Field> field = first_field(line_template);
  if (!field) return line_template == text;
  fills(field->name, "");  // an unknown field is an error even if the text already differs
  if (!take_literal(text, field->before)) return false;
  // A field has no fixed length: try each, and let the rest of the template decide.
  for (std::size_t length = 1; length <= text.size(); ++length) {
    if (fills(field->name, text.substr(0, length)) && matches_template(field->after, text.substr(length))) return true;
  }
  return false;
}

std::string make_fmt_format(std::string_view line_template, std::size_t num_values) {
  std::size_t num_fields = 0;
  std::string format = with_fields(line_template, [&](const Field& field) {
    ++num_fields;
    return fmt::format("{{{}}}", field.format);
  });
  if (num_fields == num_values) return format;
  throw ContractError(fmt::format("a log template: expected a value for each of the {} fields of '{}', got {}",
                                  num_fields, line_template, num_values));
}

std::string without_formats(std::string_view line_template) {
  return with_fields(line_template, [](const Field& field) { return fmt::format("{{{}}}", field.name); });
}

}  // namespace lab::log
