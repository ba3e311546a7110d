#include "common/log/check_log_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "common/base/files.h"
#include "common/base/text.h"
#include "common/log/check_log.h"
#include "common/log/plain_log.h"

namespace lab::log {
namespace {

constexpr std::size_t kMostShown = 10;               // problems: the rest usually follows from the first ones
constexpr std::size_t kMostBytesShown = 1000;        // of a problem: a line of a log may have any length
constexpr std::size_t kMostBytes = 4 * 1024 * 1024;  // of a log: the VAE's has 500 KB on 64 ranks

std::string shown(const std::string& path) {
  return path == "-" ? "standard input" : one_line(safe_text(path, kMostBytesShown));
}

std::string read_log(const std::string& path) {
  const UniqueFd file(path == "-" ? ::dup(0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto refuse = [&](const std::string& reason) {
    throw UsageError(
        fmt::format("check-log: cannot read {}: {}; expected the log of a run, or -", shown(path), reason));
  };
  if (file.get() < 0) refuse(std::strerror(errno));
  struct stat found {};
  if (::fstat(file.get(), &found) == 0 && S_ISDIR(found.st_mode)) {
    const std::string folder = path == "-" ? "FOLDER" : shown(path.substr(0, path.find_last_not_of('/') + 1));
    throw UsageError(
        fmt::format("check-log: cannot read {}: it is a folder; expected the log of a run, such as "
                    "{}/NAME.log, or -",
                    shown(path), folder));
  }
  std::string text;
  std::array<char, 1 << 16> part;
  while (true) {
    const ssize_t count = ::read(file.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse(std::strerror(errno));
    if (count == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
    if (text.size() > kMostBytes) refuse("it has more than 4 MiB");
  }
}

}  // namespace

ExitCode check_log_file(const std::string& path, const std::string& program, const LogExpectation& expectation) {
  const std::optional<std::string> text = plain_log(read_log(path));
  if (!text) throw UsageError(fmt::format("check-log: {}: it is not text; expected the log of a run", shown(path)));
  const std::vector<std::string> problems = check_log(*text, expectation, program);
  const std::string name = path == "-" ? path : shown(path);
  for (std::size_t i = 0; i < std::min(problems.size(), kMostShown); ++i)
    fmt::print("{}: {}\n", name, safe_text(problems[i], kMostBytesShown));
  if (problems.size() > kMostShown)
    fmt::print("{}: and {}\n", name, counted(problems.size() - kMostShown, "more problem"));
  if (!problems.empty()) return ExitCode::kMismatch;
  fmt::print("{}: accepted: exactly the lines of a right run on {}\n", name, counted(expectation.num_ranks(), "rank"));
  return ExitCode::kAllMatch;
}

}  // namespace lab::log
