#pragma once

#include <optional>
#include <string>

namespace lab::log {

/// The log as the program printed it, without what terminals, launchers, editors and CI services add: another encoding
/// (utf8_text.h) or a byte order mark; CR LF; colours and other escape sequences; and in front of a line any of
///
///     12:34:56   2025-01-31T12:34:56.789Z   [2025/01/31 12:34:56,789]   Jan 31 12:34:56   Fri Jan 31 12:34:56 2025
///     [default0]:   [1,0]<stdout>:   0:   the rank, as torchrun, Open MPI and srun print it
///
/// and, where a line of a log follows, which begins with a bracket, any of
///
///     [0]   [pod/a4-0/main]   rank0-1  |   node0:   stdout F   node0 a4_data_tensor[100]:
///
/// as MPICH, Kubernetes, Docker Compose, pdsh and journald print it. A line's rank is the one that the program has
/// printed, whatever a label says: on several nodes, a launcher's number may be that of a labrun.
/// nullopt: the bytes are not text.
/// Example   plain_log("\xEF\xBB\xBF[default0]:\x1B[32m[Rank 0] done\x1B[0m\r\n") == "[Rank 0] done\n"
std::optional<std::string> plain_log(const std::string& bytes);

}  // namespace lab::log
