#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// Comma-separated values as spreadsheets write and read them.
namespace lab::grading {

using CsvRow = std::vector<std::string>;

/// The rows of a text in UTF-8, with or without a byte order mark. Fields are separated by commas, or by semicolons or
/// tabs if the first row has more of those, or by what Excel's line "sep=;" says; empty rows are left out. `path` names the
/// file in the message.
/// Errors    UsageError: a quote that is not closed or stands inside a field
/// Source    RFC 4180; libcsv, which is used here only
std::vector<CsvRow> parse_csv(std::string_view text, const std::string& path);

/// A row with its line end: fields are quoted where they must be, and their text is safe_text(). One that a spreadsheet
/// would take for a formula (=, +, -, @, tab or a line end at its beginning), and is not a number, gets an apostrophe
/// before it; not a field in `identifiers` of letters, digits and . _ @ + - only, which no formula can do harm with: by it
/// a platform finds its student.
/// Example   {"a,b", "=1+1", "-2.5"} becomes "a,b",'=1+1,-2.5
std::string csv_line(const CsvRow& fields, const std::set<std::size_t>& identifiers = {});

}  // namespace lab::grading
