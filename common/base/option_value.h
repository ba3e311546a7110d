#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <vector>

// The values of options: how they are read, and the message for one that is wrong.
namespace lab::option {

/// What an option takes, and a value that would be right.
struct Expectation {
  std::string expected;
  std::string example;
};

/// Errors    UsageError, always: "--nproc: expected an integer from 1 to 4096, got 'zero'; try --nproc 4"
[[noreturn]] void throw_wrong_value(const std::string& option, const Expectation& expectation, const std::string& got);

/// The text in quotes, every control character a question mark.
std::string quoted(std::string text);

/// "a, b or c"
std::string listed(const std::vector<std::string>& choices);

/// "an integer from 1 to 4096", "an integer of at least 0" where max is the largest of all.
std::string whole_expected(const std::string& min, const std::string& max);

/// The number that the whole text spells, or nothing: no sign but a minus, no blanks, no remainder.
template <typename Number>
std::optional<Number> integer(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace lab::option
