#pragma once

#include <string>
#include <string_view>

namespace lab {

/// 64 digits that stand for a text: nobody can make another text that has the same.
/// Source    BLAKE2b with 256 bits, RFC 7693; libsodium, which is used in this folder only
std::string content_hash(std::string_view text);

}  // namespace lab
