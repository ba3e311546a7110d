#include "common/base/captured_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <tuple>

#include "common/base/errors.h"
#include "common/base/machine_limits.h"

namespace lab {

std::pair<UniqueFd, UniqueFd> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw UsageError("cannot create a pipe: " + describe_error(errno));
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

CapturedOutput::CapturedOutput(std::size_t max_bytes) : max_bytes_(max_bytes) {
  std::tie(read_end_, write_end_) = make_pipe();
  ::fcntl(read_end_.get(), F_SETFL, O_NONBLOCK);  // only our end: the program writes as to any pipe
}

void CapturedOutput::read() {
  std::array<char, 1 << 16> buffer{};
  for (int turn = 0; turn < 16 && read_end_.get() >= 0; ++turn) {
    const ssize_t count = ::read(read_end_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    if (count == 0) return read_end_.reset();
    const std::size_t kept = std::min(static_cast<std::size_t>(count), max_bytes_ - text_.size());
    text_.append(buffer.data(), kept);
    dropped_ += static_cast<std::uint64_t>(count) - kept;
  }
}

}  // namespace lab
