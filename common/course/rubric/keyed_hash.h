#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace lab {

/// A hash that cannot be computed, or told from random numbers, without the key.
/// Source    J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", SipHash-2-4; libsodium, which is used in this folder only
std::uint64_t keyed_hash(const std::array<std::uint64_t, 2>& key, std::string_view text);

}  // namespace lab
