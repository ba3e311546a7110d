#pragma once

#include <string>
#include <string_view>

namespace lab {

/// True where the text is the template with every {field} filled in. The fields:
///   {node}    a whole number or N/A          {device}  GPU or CPU
///   {index}   a whole number                 {number}  a finite decimal number, "12", "-0.5", "1.5e-07"
///   {figure}  a figure of a match line, finite
///   {word}    letters, digits, '-', '.' and ',': a name or a list, "1f1b", "0-2,5"
/// Every other character stands for itself.
/// Errors    ContractError: a field that is not in this list
/// Example   matches_template("on {device} {index}.", "on CPU 3.") is true
bool matches_template(std::string_view line_template, std::string_view text);

}  // namespace lab
