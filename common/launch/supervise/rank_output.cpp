#include "common/launch/supervise/rank_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/machine_limits.h"

namespace lab::launch {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;  // a longer one is passed on in pieces

}  // namespace

RankOutput::RankOutput(RankOutputOptions options) : options_(std::move(options)) {
  if (options_.log_dir.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(options_.log_dir, error);
  if (error || !std::filesystem::is_directory(options_.log_dir, error)) {
    throw UsageError(fmt::format("cannot create the log folder {}: {}", options_.log_dir,
                                 error ? error.message() : "a file of this name exists"));
  }
}

RankOutput::~RankOutput() {
  finish();
}

RankOutput::Fds RankOutput::open(int rank) {
  return {open_stream(rank, "log", options_.tee_stdout, 1), open_stream(rank, "err", options_.tee_stderr, 2)};
}

int RankOutput::open_stream(int rank, const char* suffix, bool tee, int terminal) {
  UniqueFd file;
  if (!options_.log_dir.empty()) {
    const std::string path = fmt::format("{}/rank{}.{}", options_.log_dir, rank, suffix);
    file = UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666));
    if (file.get() < 0) throw UsageError(fmt::format("cannot create the log {}: {}", path, std::strerror(errno)));
  }
  if (!tee) {
    const int fd = file.get();
    if (fd >= 0) held_by_ranks_.push_back(std::move(file));
    return fd;
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw UsageError("cannot create a pipe: " + describe_error(errno));
  held_by_ranks_.emplace_back(ends[1]);
  streams_.push_back({UniqueFd(ends[0]), std::move(file), terminal, ""});
  return ends[1];
}

void RankOutput::start() {
  held_by_ranks_.clear();
  if (!streams_.empty()) copier_ = std::thread([this] { copy_all(); });
}

void RankOutput::finish() {
  held_by_ranks_.clear();
  if (copier_.joinable()) copier_.join();
}

void RankOutput::copy_all() {
  std::vector<pollfd> sources;
  for (const Stream& stream : streams_) sources.push_back({stream.from.get(), POLLIN, 0});
  // Each stream is read until its last writer has closed it, whichever rank that is.
  for (std::size_t num_open = sources.size(); num_open > 0;) {
    if (::poll(sources.data(), sources.size(), -1) < 0 && errno != EINTR) return;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (sources[i].fd < 0 || sources[i].revents == 0 || copy_some(streams_[i])) continue;
      sources[i].fd = -1;
      --num_open;
    }
  }
}

// Returns false at the end of the stream. A terminal-side reader that has gone away stops no rank.
bool RankOutput::copy_some(Stream& stream) {
  std::array<char, 65536> buffer;
  ssize_t num_read = 0;
  do num_read = ::read(stream.from.get(), buffer.data(), buffer.size());
  while (num_read < 0 && errno == EINTR);
  const bool ended = num_read <= 0;
  if (!ended) {
    const std::string_view text(buffer.data(), static_cast<std::size_t>(num_read));
    if (stream.file.get() >= 0) write_fully(stream.file.get(), text);
    stream.line += text;
  }
  std::size_t whole = stream.line.rfind('\n') + 1;  // 0 where there is none
  if (ended && whole < stream.line.size()) stream.line += '\n';
  if (ended || stream.line.size() > kLongestLine) whole = stream.line.size();
  write_fully(stream.terminal, std::string_view(stream.line).substr(0, whole));
  stream.line.erase(0, whole);
  return !ended;
}

}  // namespace lab::launch
