#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace lab {

/// A hash that cannot be computed, or told from random numbers, without the key.
/// Source    J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", SipHash-2-4; libsodium, which is used in this folder only
std::uint64_t keyed_hash(const std::array<std::uint64_t, 2>& key, std::string_view text);

/// 64 digits that stand for a text: nobody can make another text that has the same.
/// Source    BLAKE2b with 256 bits, RFC 7693; libsodium, which is used in this folder only
std::string content_hash(std::string_view text);

}  // namespace lab
