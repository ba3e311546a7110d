#include "common/base/machine_limits.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/numbers.h"

namespace lab {
namespace {

std::optional<std::uint64_t> read_limit(__rlimit_resource resource) {
  rlimit limit = {};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

}  // namespace

std::string with_memory_limit(const std::string& text) {
  const std::optional<std::uint64_t> limit = read_limit(RLIMIT_AS);
  if (!limit) return text;
  return fmt::format("{}: this process may use {}; hint: raise the limit with ulimit -v", text, describe_bytes(*limit));
}

std::string describe_error(int error) {
  const std::string text = std::strerror(error);
  if (error == ENOMEM) return with_memory_limit(text);
  if (error == EMFILE || error == ENFILE) {
    const std::optional<std::uint64_t> limit = read_limit(RLIMIT_NOFILE);
    return fmt::format("{}: this process may open {}; hint: raise the limit with ulimit -n", text,
                       limit ? std::to_string(*limit) : "as many as the machine has");
  }
  if (error == EAGAIN) {  // also of a thread for whose stack there is no memory
    const std::optional<std::uint64_t> memory = read_limit(RLIMIT_AS);
    const std::optional<std::uint64_t> processes = read_limit(RLIMIT_NPROC);
    return fmt::format(
        "{}: {} processes and threads{}; hint: raise the limit with ulimit -u{}, or start fewer ranks", text,
        processes ? fmt::format("this user may have {}", *processes) : "the machine or its container allows no more",
        memory ? ", and this process may use " + describe_bytes(*memory) : "", memory ? " or -v" : "");
  }
  return text;
}

bool is_machine_limit(int error) {
  constexpr std::array kLimits = {EAGAIN, ENOMEM, ENOSPC, EDQUOT, EFBIG, EMFILE, ENFILE, EBADF, EPIPE, EIO};
  return std::find(kLimits.begin(), kLimits.end(), error) != kLimits.end();
}

void throw_unwritable(int fd, int error) {
  const std::string where = fd == 1 ? "standard output" : fmt::format("file descriptor {}", fd);
  const char* hint = error == EPIPE   ? "its reader went away; expected a program that reads to the end"
                     : error == EBADF ? "it is closed; expected a terminal, a file or a pipe"
                                      : "expected room for every line";
  throw UsageError(fmt::format("cannot write to {}: {} ({})", where, hint, std::strerror(error)));
}

void print_to(int fd, std::string_view text) {
  if (const int error = write_fully(fd, text)) throw_unwritable(fd, error);
}

}  // namespace lab
