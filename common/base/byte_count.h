#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lab {

/// "0 B", "4 KiB", "1.5 MiB".
std::string describe_bytes(std::uint64_t bytes);

/// The count that a text names: a whole number, alone or with B, KiB, MiB or GiB (K, M and G for short) behind it.
/// Nothing where it names none, or one beyond 2^60.
/// Example   "64KiB" and "65536": 65536
std::optional<std::int64_t> parse_bytes(const std::string& text);

}  // namespace lab
