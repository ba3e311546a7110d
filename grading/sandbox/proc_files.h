#pragma once

#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

// What the kernel tells about processes under /proc (proc(5)).
namespace lab::grading {

/// From `stat` of a process or of one of its threads.
struct ProcStat {
  char state = 'S';
  pid_t parent = 0;
  double cpu_seconds = 0;  ///< user and system; of a process: of all its threads, ended ones included
};

/// nullopt: it is gone.
std::optional<ProcStat> read_stat(const std::string& path);

/// The sum of lines of a `status` file, such as "RssAnon", in bytes; 0 if the process is gone.
std::uint64_t status_bytes(const std::string& path, std::initializer_list<const char*> names);

}  // namespace lab::grading
