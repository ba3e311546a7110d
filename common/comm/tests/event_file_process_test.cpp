#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "common/comm/watch/event_file.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"

using namespace lab;
using namespace lab::comm;

namespace {

// Message i of a channel carries i in every field, so that a torn snapshot shows.
struct Numbered {
  explicit Numbered(std::uint64_t i) : text(std::to_string(i)), size(static_cast<std::int64_t>(i)) {}
  PostedOpView op() const {
    const int small = static_cast<int>(size % 1000);
    return {Direction::kSend, small, 0,     0, static_cast<std::uint64_t>(size),
            "send",           text,  &size, 1, {text.c_str(), small}};
  }

  std::string text;
  std::int64_t size;
};

// A pause, as between a real rank's messages; without it a reader in a debug build hardly ever gets a whole snapshot.
void compute(std::uint64_t microseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

void write_for_ever(EventFile& events, const std::atomic<bool>& stop) {
  auto rank = events.rank(0);
  rank->set_activity(RankActivity::kRunning);
  for (std::uint64_t i = 0; !stop; ++i) {
    const int slot = rank->posted(Numbered(i).op());
    rank->waiting(slot);
    rank->resumed();
    rank->completed(slot);
    if (i % 4 == 0) compute(i % 32);
  }
}

bool is_one_picture(const RankState& state) {
  if (state.posted.size() > 1) return false;
  for (const PostedOp& op : state.posted) {
    const PostedOp whole = Numbered(op.bytes).op().op(op.sequence);
    if (op.contract != whole.contract || op.where != whole.where || op.peer != whole.peer) return false;
  }
  return state.activity != RankActivity::kWaiting || state.waiting_for == 0;
}

}  // namespace

TEST_CASE("a reader concurrent with a writer sees whole snapshots, or is told that it does not") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("events");
  auto events = EventFile::create(path, 1);
  std::atomic<bool> stop = false;
  std::thread writer([&] { write_for_ever(*events, stop); });
  int num_torn = 0, num_whole = 0;
  for (int i = 0; i < 20000 && num_whole < 2000; ++i) {
    const RankState state = events->read(0, nullptr);
    if (!state.complete) continue;
    ++num_whole;
    if (!is_one_picture(state)) ++num_torn;
    events->last_events(0);
  }
  stop = true;
  writer.join();
  CHECK(num_torn == 0);
  CHECK(num_whole > 0);
}

TEST_CASE("a rank that is killed in the middle of its work leaves a readable picture") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("events");
  auto events = EventFile::create(path, 1);
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const std::atomic<bool> never = false;
      write_for_ever(*events, never);
      ::_exit(0);
    }
    std::uint64_t first = 0, later = 0;
    events->read(0, &first);
    do events->read(0, &later);
    while (later < first + 1000);
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WTERMSIG(status) == SIGKILL);

    const RankState state = events->read(0, nullptr);
    CHECK((state.activity == RankActivity::kRunning || state.activity == RankActivity::kWaiting));
    CHECK(events->last_events(0).size() == 64);
    CHECK_FALSE(diagnose(*events));
    ::unlink(path.c_str());
    events = EventFile::create(path, 1);
  }
}
