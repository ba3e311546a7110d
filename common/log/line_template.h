#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <string>
#include <string_view>

// A line whose figures vary from run to run: the program fills the template in, check-log matches a log's line with it.
namespace lab::log {

/// True if the text is the template with every {field} filled in. The fields:
///   {node}    an integer or N/A          {device}  GPU or CPU
///   {index}   an integer                 {number}  a finite decimal number, "12", "-0.5", "1.5e-07"
///   {figure}  a figure of a match line, finite
///   {word}    letters, digits, '-', '.' and ',': a name or a list, "1f1b", "0-2,5"
/// A field may also say how filled() prints its value, as fmt does: {number:.2f}. Every other character stands for
/// itself.
/// Errors    ContractError: a field that is not in this list
/// Example   matches_template("on {device} {index}.", "on CPU 3.") is true
bool matches_template(std::string_view line_template, std::string_view text);

/// The template's fields as fmt's: "{number:.1f} s" becomes "{:.1f} s".
/// Errors    ContractError: there are not `num_values` of them
std::string make_fmt_format(std::string_view line_template, std::size_t num_values);

/// The line that a program prints: the template with the values in its fields, in order. The values are not checked, as
/// those of a wrong run may be anything, such as nan; check-log then refuses the line.
/// Errors    ContractError: more or fewer values than fields
/// Example   filled("{number} images in {number:.1f} s", 4608, 3.14) is "4608 images in 3.1 s"
template <class... Values>
std::string filled(std::string_view line_template, const Values&... values) {
  return fmt::vformat(make_fmt_format(line_template, sizeof...(values)), fmt::make_format_args(values...));
}

/// The template for messages, without its formats: "{number} s".
std::string without_formats(std::string_view line_template);

}  // namespace lab::log
