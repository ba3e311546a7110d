#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <vector>

// Parses option values, and formats the message for an invalid one.
namespace lab::option {

/// What an option accepts, and an example of a valid value.
struct Expectation {
  std::string expected;
  std::string example;
};

/// Errors    UsageError, always: "--nproc: expected an integer from 1 to 4096, got 'zero'; try --nproc 4"
[[noreturn]] void throw_wrong_value(const std::string& option, const Expectation& expectation, const std::string& got);

/// The text in quotes, with every control character replaced by a question mark.
std::string quoted(std::string text);

/// "a, b or c"
std::string listed(const std::vector<std::string>& choices);

/// "an integer from 1 to 4096", "an integer of at least 0" if max is the largest int64.
std::string integer_expected(const std::string& min, const std::string& max);

/// The number if the whole text is one, else nothing: no plus sign, no blanks, no trailing characters.
template <typename Number>
std::optional<Number> integer(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace lab::option
