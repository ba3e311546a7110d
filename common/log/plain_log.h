#pragma once

#include <optional>
#include <string>

namespace lab::log {

/// The log as the program printed it, without what terminals, launchers, editors and CI services add: another encoding
/// (utf8_text.h) or a byte order mark; CR LF; colours and other escape sequences; and in front of a line any of
///
///     12:34:56   2025-01-31T12:34:56.789Z   [2025/01/31 12:34:56,789]   Jan 31 12:34:56     the time
///     [default0]:   [1,0]<stdout>:   0:                      the rank, as torchrun, mpirun and srun print it
///
/// nullopt: the bytes are not text.
/// Example   plain_log("\xEF\xBB\xBF[default0]:\x1B[32m[Rank 0] done\x1B[0m\r\n") == "[Rank 0] done\n"
std::optional<std::string> plain_log(const std::string& bytes);

}  // namespace lab::log
