#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lab {

/// A point in time, to the second, with the offset that it was written with. Two are equal if they are the same point.
struct Moment {
  std::int64_t seconds = 0;  ///< since 1970-01-01 00:00 UTC
  int offset_minutes = 0;    ///< of the local time, east of UTC

  friend bool operator==(const Moment& a, const Moment& b) { return a.seconds == b.seconds; }
  friend bool operator!=(const Moment& a, const Moment& b) { return a.seconds != b.seconds; }
  friend bool operator<(const Moment& a, const Moment& b) { return a.seconds < b.seconds; }
};

/// A date and a time with its offset from UTC, as RFC 3339, TOML, and Gradescope and Canvas write it: a T or a blank
/// between them, seconds and their fraction (which is dropped) may be missing, Z, UTC or an offset at the end. Nothing
/// where it is anything else: without an offset a time says when only to who knows where it was written.
/// Example   "2026-12-01T18:00+01:00", "2026-12-01 17:00:00.5 Z" and "2026-12-01 17:00:00 UTC" are the same
std::optional<Moment> moment_in(std::string_view text);

/// The same, of a value that somebody gave; `where` begins the message.
/// Errors    UsageError: "--as-of: expected a date and time with its offset from UTC, such as ..., got '...'"
Moment moment_of(const std::string& text, const std::string& where);

/// "2026-12-01 18:00:00 +01:00", without seconds where these are 0; moment_in() reads it.
std::string to_text(const Moment& moment);

}  // namespace lab
