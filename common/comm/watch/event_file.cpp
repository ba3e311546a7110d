#include "common/comm/watch/event_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <stdexcept>

#include "common/comm/watch/event_layout.h"
#include "common/comm/watch/rank_events.h"

namespace lab::comm {
namespace {

using namespace event_layout;

constexpr int kMaxRanks = 1 << 16;

// One header, then for each rank the pages that it writes, then for each rank the page on which the launcher records
// how it ended.
std::size_t file_bytes(int num_ranks) {
  return sizeof(FileHeader) + static_cast<std::size_t>(num_ranks) * (sizeof(RankPages) + sizeof(ExitPage));
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void fail(const std::string& what, const std::string& path, const char* why) {
  throw UsageError(fmt::format("cannot {} the event file {}: {}", what, path, why));
}

class MappedEventFile final : public EventFile {
 public:
  MappedEventFile(const Descriptor& file, const std::string& path, int num_ranks, const char* what)
      : num_ranks_(num_ranks) {
    const std::size_t bytes = file_bytes(num_ranks);
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED) fail(what, path, strerror(errno));
    memory_ = std::shared_ptr<void>(memory, [bytes](void* mapped) { ::munmap(mapped, bytes); });
  }

  FileHeader& header() const { return *static_cast<FileHeader*>(memory_.get()); }

  int num_ranks() const override { return num_ranks_; }
  Writers writers() const override {
    return header().of_one_machine.load() == 1 ? Writers::kThisMachine : Writers::kAllRanks;
  }

  std::unique_ptr<RankEvents> rank(int rank) override {
    pages(rank).place.outlives.store(1);
    return make_rank_events(memory_, pages(rank));
  }

  RankState read(int rank, std::uint64_t* num_changes) const override {
    const auto& end = exit_page(rank).notice;
    const bool ended = end.written();  // read first, so that an ended rank's last writes are seen
    RankState state = read_rank(pages(rank), num_changes);
    state.stopped_by = ended ? 0 : static_cast<int>(exit_page(rank).stopped_by.load(std::memory_order_acquire));
    if (!ended || state.activity == RankActivity::kFinished) return state;
    const bool failed = end.code.load(std::memory_order_acquire) != 0;
    if (failed && (state.activity != RankActivity::kFailed || state.detail.empty()))
      state.detail = end.text.load().str();
    if (failed) state.activity = RankActivity::kFailed;
    if (!failed && state.activity != RankActivity::kFailed) state.activity = RankActivity::kFinished;
    return state;
  }

  std::uint64_t num_changes(int rank) const override {
    return pages(rank).sequence.load(std::memory_order_acquire) / 2;
  }

  StudentPlace& place(int rank) const override { return pages(rank).place; }

  std::vector<std::string> last_events(int rank) const override { return read_last_events(pages(rank)); }

  void set_exit_reason(int rank, const std::string& reason) override { exit_page(rank).notice.write(1, reason); }
  void set_returned(int rank) override { exit_page(rank).notice.write(0, ""); }

  std::string exit_reason(int rank) const override {
    const auto& end = exit_page(rank).notice;
    return end.written() ? end.text.load().str() : "";
  }

  void set_stopped(int rank, int signal) override {
    exit_page(rank).stopped_by.store(static_cast<std::uint64_t>(signal), std::memory_order_release);
  }

  double timeout_seconds() const override {
    std::uint64_t longest = 0;
    for (int rank = 0; rank < num_ranks_; ++rank)
      longest = std::max(longest, pages(rank).timeout_milliseconds.load(std::memory_order_acquire));
    return static_cast<double>(longest) / 1000;
  }

  void set_rank_lines(const std::vector<std::string>& lines) override {
    header().rank_lines.write(0, fmt::format("{}", fmt::join(lines, "\n")));
  }

  std::vector<std::string> rank_lines() const override {
    std::vector<std::string> lines;
    if (!header().rank_lines.written()) return lines;
    std::istringstream text(header().rank_lines.text.load().str());
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }

  void set_verdict(const Verdict& verdict) override {
    header().verdict.write(static_cast<std::uint64_t>(verdict.exit_code), verdict.message);
  }

  std::optional<Verdict> verdict() const override {
    const auto& notice = header().verdict;
    if (!notice.written()) return std::nullopt;
    return Verdict{static_cast<ExitCode>(notice.code.load(std::memory_order_acquire)), notice.text.load().str()};
  }

 private:
  std::size_t checked(int rank) const {
    if (rank < 0 || rank >= num_ranks_)
      throw std::out_of_range(fmt::format("event file: rank {} of {}", rank, num_ranks_));
    return static_cast<std::size_t>(rank);
  }
  char* after_header() const { return static_cast<char*>(memory_.get()) + sizeof(FileHeader); }
  RankPages& pages(int rank) const { return reinterpret_cast<RankPages*>(after_header())[checked(rank)]; }
  ExitPage& exit_page(int rank) const {
    char* first = after_header() + static_cast<std::size_t>(num_ranks_) * sizeof(RankPages);
    return reinterpret_cast<ExitPage*>(first)[checked(rank)];
  }

  std::shared_ptr<void> memory_;
  int num_ranks_;
};

}  // namespace

std::unique_ptr<EventFile> EventFile::create(const std::string& path, int num_ranks, Writers writers) {
  if (num_ranks < 1 || num_ranks > kMaxRanks) fail("make", path, "the number of ranks must be between 1 and 65536");
  const Descriptor file(path, O_RDWR | O_CREAT | O_TRUNC);
  if (file.get() < 0) fail("make", path, strerror(errno));
  if (::ftruncate(file.get(), static_cast<off_t>(file_bytes(num_ranks))) != 0) fail("make", path, strerror(errno));
  auto events = std::make_unique<MappedEventFile>(file, path, num_ranks, "make");
  events->header().version.store(kVersion);
  events->header().num_ranks.store(static_cast<std::uint64_t>(num_ranks));
  events->header().of_one_machine.store(writers == Writers::kThisMachine ? 1 : 0);
  events->header().magic.store(kMagic);
  return events;
}

std::unique_ptr<EventFile> EventFile::open(const std::string& path) {
  const Descriptor file(path, O_RDWR);
  struct stat status = {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) fail("open", path, strerror(errno));
  std::uint64_t start[3] = {};  // magic, version, num_ranks
  if (!S_ISREG(status.st_mode) || ::pread(file.get(), start, sizeof(start), 0) != static_cast<ssize_t>(sizeof(start)) ||
      start[0] != kMagic || start[1] != kVersion) {
    fail("open", path, "it is not an event file of this version");
  }
  if (start[2] < 1 || start[2] > kMaxRanks ||
      static_cast<std::size_t>(status.st_size) != file_bytes(static_cast<int>(start[2]))) {
    fail("open", path, "its size does not match its number of ranks");
  }
  return std::make_unique<MappedEventFile>(file, path, static_cast<int>(start[2]), "open");
}

namespace {

std::vector<RankState> read_all(const EventFile& events) {
  std::vector<RankState> states;
  for (int rank = 0; rank < events.num_ranks(); ++rank) states.push_back(events.read(rank, nullptr));
  return states;
}

/// The last messages of a rank that is not waiting for a message.
std::string describe_last_events(const EventFile& events, int rank, const RankState& state) {
  constexpr std::size_t kMaxListed = 3;
  if (state.activity != RankActivity::kRunning && state.activity != RankActivity::kCollective) return "";
  std::vector<std::string> last = events.last_events(rank);
  if (last.empty()) return "; no message yet";
  if (last.size() > kMaxListed) last.erase(last.begin(), last.end() - kMaxListed);
  return fmt::format("; last: {}", fmt::join(last, ", "));
}

/// As describe_rank(), with the line of student code that a rank computes in, or else the last messages of one that waits
/// for none.
std::string describe_closely(const EventFile& events, int rank, RankState state) {
  if (state.activity == RankActivity::kRunning && state.stopped_by == 0) state.where = events.place(rank).where();
  return fmt::format("rank {} {}{}", rank, describe_rank(state),
                     state.where.empty() ? describe_last_events(events, rank, state) : "");
}

}  // namespace

std::vector<std::string> describe_ranks(const EventFile& events) {
  std::vector<std::string> lines;
  for (int rank = 0; rank < events.num_ranks(); ++rank) {
    const RankState state = events.read(rank, nullptr);
    const bool elsewhere =
        events.writers() == EventFile::Writers::kThisMachine && state.activity == RankActivity::kStarting;
    if (elsewhere) continue;
    lines.push_back(describe_closely(events, rank, state));
  }
  return lines;
}

std::string describe_late_rank(const EventFile& events, int first, int self) {
  const std::vector<RankState> states = read_all(events);
  const std::optional<int> late = find_late_rank(states, first);
  if (!late || *late == self) return "";
  return "; late: " + describe_closely(events, *late, states[static_cast<std::size_t>(*late)]);
}

std::optional<Diagnosis> diagnose(const EventFile& events) {
  if (events.writers() != EventFile::Writers::kAllRanks) return std::nullopt;
  const auto num_ranks = static_cast<std::size_t>(events.num_ranks());
  std::vector<RankState> states(num_ranks);
  std::vector<std::uint64_t> changes(num_ranks);
  for (std::size_t r = 0; r < num_ranks; ++r) states[r] = events.read(static_cast<int>(r), &changes[r]);
  std::optional<Diagnosis> diagnosis = diagnose(states);
  if (!diagnosis) return std::nullopt;
  // The snapshots were taken one after the other. If none in the proof has changed since, all held at the same time:
  // right after the last was taken.
  for (int rank : diagnosis->ranks) {
    std::uint64_t changes_now = 0;
    events.read(rank, &changes_now);
    if (changes_now != changes[static_cast<std::size_t>(rank)]) return std::nullopt;
  }
  return diagnosis;
}

}  // namespace lab::comm
