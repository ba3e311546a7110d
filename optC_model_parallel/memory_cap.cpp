#include "optC_model_parallel/memory_cap.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "common/report/errors.h"

namespace lab::optc {
namespace {

/// What RLIMIT_DATA is compared with: private writable memory, heap and mappings. Source    man 5 proc, man 2 getrlimit
std::uint64_t data_bytes_of_process() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmData:", 0) == 0) return 1024 * std::stoull(line.substr(7));
  }
  throw UsageError("a memory cap: expected VmData in /proc/self/status, got none");
}

void set_data_limit(std::uint64_t bytes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = bytes;
  if (::setrlimit(RLIMIT_DATA, &limit) != 0)
    throw UsageError(fmt::format("a memory cap of {} bytes: {}", bytes, std::strerror(errno)));
}

std::uint64_t data_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_DATA, &limit);
  return limit.rlim_cur;
}

}  // namespace

MemoryCap::MemoryCap(std::int64_t more_bytes) : limit_before_(data_limit()) {
  set_data_limit(data_bytes_of_process() + static_cast<std::uint64_t>(more_bytes));
}

MemoryCap::~MemoryCap() {
  try {
    set_data_limit(limit_before_);
  } catch (const Error&) {  // raising it to what it was is allowed to everyone
  }
}

}  // namespace lab::optc
