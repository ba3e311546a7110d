#include "grading/batch/csv.h"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "common/api/errors.h"
#include "common/base/option_value.h"
#include "common/base/text.h"

namespace lab::grading {
namespace {

struct Rows {
  std::vector<CsvRow> done;
  CsvRow current;
};

void add_field(void* field, std::size_t size, void* rows) {
  static_cast<Rows*>(rows)->current.emplace_back(static_cast<const char*>(field), size);
}

void end_row(int, void* rows) {
  auto* const all = static_cast<Rows*>(rows);
  all->done.push_back(std::move(all->current));
  all->current.clear();
}

constexpr std::size_t kMostBytes = 32'000;  // a spreadsheet's cell has 32,767 characters

bool is_formula(const std::string& field) {
  for (const std::string_view wide : {"\xEF\xBC\x9D", "\xEF\xBC\x8B", "\xEF\xBC\x8D", "\xEF\xBC\xA0"}) {
    if (field.compare(0, wide.size(), wide) == 0) return true;  // = + - @ of East Asian keyboards
  }
  constexpr std::string_view kBeginnings = "=+-@\t\r\n";
  return field.size() > 1 && kBeginnings.find(field.front()) != std::string_view::npos &&
         !option::integer<double>(field);
}

/// What separates fields: as Excel's line "sep=;" says, which is taken off, or else what the first row has most of, outside
/// of quotes.
char take_separator(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of("\r\n"), text.size()));
  const std::string_view first = text.substr(0, text.find('\n'));
  std::string said(without_line_break(first));
  said.erase(std::remove(said.begin(), said.end(), '"'), said.end());
  if (said.size() == 5 && (said.compare(0, 4, "sep=") == 0 || said.compare(0, 4, "SEP=") == 0)) {
    text.remove_prefix(std::min(first.size() + 1, text.size()));
    return said[4];
  }
  std::string unquoted;
  bool is_quoted = false;
  for (const char c : text) {
    if (c == '"') is_quoted = !is_quoted;
    if (c == '\n' && !is_quoted) break;
    if (!is_quoted) unquoted += c;
  }
  const auto num = [&](char separator) { return std::count(unquoted.begin(), unquoted.end(), separator); };
  char most = ',';
  for (const char other : {';', '\t'}) {
    if (num(other) > num(most)) most = other;
  }
  return most;
}

bool is_plain(const std::string& field) {
  return std::all_of(field.begin(), field.end(), [](unsigned char c) {
    return c >= 0x80 || std::isalnum(c) != 0 ||
           std::string_view("._@+-").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

}  // namespace

std::vector<CsvRow> parse_csv(std::string_view text, const std::string& path) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) text.remove_prefix(kByteOrderMark.size());
  const char separator = take_separator(text);

  csv_parser parser;
  if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0) throw UsageError(path + ": no memory to read it");
  const std::unique_ptr<csv_parser, void (*)(csv_parser*)> freed(&parser, csv_free);
  csv_set_delim(&parser, static_cast<unsigned char>(separator));
  Rows rows;
  const bool read = csv_parse(&parser, text.data(), text.size(), add_field, end_row, &rows) == text.size() &&
                    csv_fini(&parser, add_field, end_row, &rows) == 0;
  if (!read)
    throw UsageError(fmt::format("{}: row {}: {}; expected comma-separated values as a spreadsheet saves them", path,
                                 rows.done.size() + 1, csv_strerror(csv_error(&parser))));
  return rows.done;
}

std::string csv_line(const CsvRow& fields, const std::set<std::size_t>& identifiers) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += ',';
    const bool kept = !is_formula(fields[i]) || (identifiers.count(i) != 0 && is_plain(fields[i]));
    const std::string safe = safe_text(kept ? fields[i] : "'" + fields[i], kMostBytes);
    if (safe.find_first_of(",;\"\r\n") == std::string::npos) {
      line += safe;
      continue;
    }
    std::string quoted(csv_write(nullptr, 0, safe.data(), safe.size()), '\0');
    csv_write(quoted.data(), quoted.size(), safe.data(), safe.size());
    line += quoted;
  }
  return line + "\n";
}

}  // namespace lab::grading
