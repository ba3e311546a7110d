#include "common/comm/watch/event_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <type_traits>
#include <vector>

#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"

using namespace lab;
using namespace lab::comm;

namespace {

using lab::testing::contains;

constexpr std::int64_t kShape[] = {1024, 2, 3, 4, 5, 6, 7, 8};

PostedOpView send_to(int peer, int tag = 0) {
  return {Direction::kSend, peer, 0, tag, 4096, "send", "float32", kShape, 1, {"/src/a.cpp", 41}};
}

}  // namespace

TEST_CASE("a rank's messages, counts and wait are read back through another mapping") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("events");
  auto writer_side = EventFile::create(path, 4);
  auto reader_side = EventFile::open(path);
  CHECK(reader_side->num_ranks() == 4);
  CHECK(reader_side->read(2, nullptr).activity == RankActivity::kStarting);

  auto rank = writer_side->rank(2);
  rank->set_activity(RankActivity::kRunning);
  std::uint64_t before = 0, after = 0;
  reader_side->read(2, &before);
  const int first = rank->posted(send_to(1));
  const int second = rank->posted(send_to(1));
  const int other_tag = rank->posted({Direction::kRecv, 3, 7, -5, 8, "all_reduce", "int64", kShape, 8, {"b.cpp", 2}});
  rank->completed(first);
  rank->waiting(second);
  RankState state = reader_side->read(2, &after);
  CHECK(before != after);
  CHECK(state.activity == RankActivity::kWaiting);
  REQUIRE(state.posted.size() == 2);
  REQUIRE(state.waiting_for);
  const PostedOp& waited = state.posted[*state.waiting_for];
  CHECK(waited.sequence == 1);
  CHECK(waited.peer == 1);
  CHECK(waited.bytes == 4096);
  CHECK(waited.operation == "send");
  CHECK(waited.contract == "float32 [1024]");
  CHECK(waited.where == "a.cpp:41");
  const PostedOp& other = state.posted[1 - *state.waiting_for];
  CHECK(other.direction == Direction::kRecv);
  CHECK(other.operation == "all_reduce");
  CHECK(other.contract == "int64 [1024, 2, 3, 4, 5, 6, 7, 8]");
  CHECK(other.where == "b.cpp:2");
  CHECK(other.group == 7);
  CHECK(other.tag == -5);
  REQUIRE(state.channels.size() == 2);
  CHECK(state.channels[0].posted == 2);
  CHECK(state.channels[1].posted == 1);
  CHECK(state.complete);

  rank->resumed();
  rank->completed(second);
  rank->completed(other_tag);
  state = reader_side->read(2, nullptr);
  CHECK(state.activity == RankActivity::kRunning);
  CHECK(state.posted.empty());
  CHECK(state.channels.size() == 2);
  CHECK(reader_side->read(1, nullptr).posted.empty());

  rank->set_activity(RankActivity::kCollective, "all_reduce");
  CHECK(describe_rank(reader_side->read(2, nullptr)) == "is inside all_reduce");
}

TEST_CASE("messages beyond the table's size are counted but not listed; the channels stay complete") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("events");
  auto events = EventFile::create(path, 1);
  auto rank = events->rank(0);
  std::vector<int> slots;
  for (int i = 0; i < 10000; ++i) slots.push_back(rank->posted(send_to(1)));
  CHECK(slots.back() < 0);
  RankState state = events->read(0, nullptr);
  CHECK(state.posted.size() + state.unlisted == 10000);
  CHECK(state.channels[0].posted == 10000);
  CHECK(state.complete);
  rank->waiting(slots.back());
  CHECK_FALSE(events->read(0, nullptr).waiting_for);
  for (int slot : slots) rank->completed(slot);
  state = events->read(0, nullptr);
  CHECK(state.posted.empty());
  CHECK(state.unlisted == 0);
  CHECK(rank->posted(send_to(1)) >= 0);
}

TEST_CASE("channels beyond the table make the picture incomplete") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("events");
  auto events = EventFile::create(path, 1);
  auto rank = events->rank(0);
  for (int tag = 0; tag < 5000; ++tag) rank->completed(rank->posted(send_to(1, tag)));
  const RankState state = events->read(0, nullptr);
  CHECK_FALSE(state.complete);
  CHECK(state.channels.size() == 1024);
}

TEST_CASE("long texts are cut, not spilled") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("events");
  auto events = EventFile::create(path, 2);
  auto rank = events->rank(0);
  PostedOpView op = send_to(1);
  const std::string text(500, 'x');
  op.operation = op.dtype = text;
  op.where.file = text.c_str();
  const std::vector<std::int64_t> shape(200, 7);
  op.shape = shape.data();
  op.num_dims = shape.size();
  rank->waiting(rank->posted(op));
  rank->set_activity(RankActivity::kFailed, std::string(5000, 'y'));
  events->set_verdict({ExitCode::kDeadlock, std::string(20000, 'z')});
  const RankState state = events->read(0, nullptr);
  CHECK(state.posted[0].operation == std::string(23, 'x'));
  CHECK(state.posted[0].contract == std::string(15, 'x') + " [7, 7, 7, 7, 7, 7, 7, 7]");
  CHECK(state.posted[0].where == std::string(47, 'x') + ":41");
  CHECK(contains(events->last_events(0).back(), "(" + std::string(43, 'x') + ":41)"));
  CHECK(state.detail == std::string(1023, 'y'));
  CHECK(events->verdict()->message == std::string(7999, 'z'));
  CHECK(events->read(1, nullptr).activity == RankActivity::kStarting);
}

TEST_CASE("the last events are kept, oldest first") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("events");
  auto events = EventFile::create(path, 1);
  auto rank = events->rank(0);
  CHECK(events->last_events(0).empty());
  const int slot = rank->posted(send_to(1, 3));
  rank->waiting(slot);
  rank->completed(slot);
  CHECK(events->last_events(0) == std::vector<std::string>{"posted send of 4 KiB to rank 1, tag 3 (a.cpp:41)",
                                                           "waits for send of 4 KiB to rank 1, tag 3 (a.cpp:41)",
                                                           "completed send of 4 KiB to rank 1, tag 3 (a.cpp:41)"});
  for (int tag = 0; tag < 100; ++tag) rank->posted(send_to(1, tag));
  CHECK(events->last_events(0).size() == 64);
  CHECK(events->last_events(0).back() == "posted send of 4 KiB to rank 1, tag 99 (a.cpp:41)");
}

TEST_CASE("the exit that the launcher recorded decides a rank's state") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("events");
  auto events = EventFile::create(path, 4);
  for (int r : {0, 1, 2}) events->rank(r)->set_activity(RankActivity::kRunning);
  CHECK(events->exit_reason(0).empty());
  events->set_exit_reason(0, "killed by signal 9 (SIGKILL)");
  events->set_returned(1);
  events->rank(2)->set_activity(RankActivity::kFailed, "its own words");
  events->set_exit_reason(2, "exited with code 4");
  events->rank(3)->set_activity(RankActivity::kFinished);
  events->set_exit_reason(3, "exited with code 1");
  CHECK(describe_rank(events->read(0, nullptr)) == "failed: killed by signal 9 (SIGKILL)");
  CHECK(events->exit_reason(0) == "killed by signal 9 (SIGKILL)");
  CHECK(describe_rank(events->read(1, nullptr)) == "has already returned");
  CHECK(events->exit_reason(1).empty());
  CHECK(describe_rank(events->read(2, nullptr)) == "failed: its own words");
  CHECK(describe_rank(events->read(3, nullptr)) == "has already returned");
}

TEST_CASE("the first verdict stays") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("events");
  auto launcher = EventFile::create(path, 2);
  auto rank = EventFile::open(path);
  CHECK_FALSE(rank->verdict());
  launcher->set_verdict({ExitCode::kDeadlock, "deadlock: first"});
  launcher->set_verdict({ExitCode::kContract, "second"});
  REQUIRE(rank->verdict());
  CHECK(rank->verdict()->exit_code == ExitCode::kDeadlock);
  CHECK(rank->verdict()->message == "deadlock: first");
}

TEST_CASE("a stuck world is found in the file, a moving one is not") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("events");
  auto events = EventFile::create(path, 2);
  auto first = events->rank(0), second = events->rank(1);
  first->waiting(first->posted(send_to(1)));
  CHECK_FALSE(diagnose(*events));
  second->waiting(second->posted(send_to(0)));
  REQUIRE(diagnose(*events));
  CHECK(diagnose(*events)->message ==
        "deadlock: rank 0 waits to send 4 KiB to rank 1 (a.cpp:41), rank 1 waits to send 4 KiB to rank 0 (a.cpp:41)");
  second->resumed();
  CHECK_FALSE(diagnose(*events));
  events->set_returned(1);
  CHECK(contains(diagnose(*events)->message, "rank 1 has already returned"));
}

TEST_CASE("where only this machine's ranks write, nothing is proved, and no others are described") {
  const testing::TemporaryFolder folder;
  EventFile::create(folder.file("events"), 4, EventFile::Writers::kThisMachine);
  const auto events = EventFile::open(folder.file("events"));
  CHECK(events->writers() == EventFile::Writers::kThisMachine);
  for (const int rank : {1, 2}) {
    const auto writer = events->rank(rank);
    writer->waiting(writer->posted(send_to(3 - rank)));
  }
  CHECK_FALSE(diagnose(*events));
  const std::vector<std::string> lines = describe_ranks(*events);
  REQUIRE(lines.size() == 2);
  CHECK(contains(lines[0], "rank 1 waits to send 4 KiB to rank 2"));
}

TEST_CASE("anything but an event file is refused in one message") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("events");
  const auto refusal = [&](const std::string& candidate) {
    return lab::testing::get_message<UsageError>([&] { EventFile::open(candidate); });
  };
  CHECK(refusal("/nonexistent/events") == "cannot open the event file /nonexistent/events: No such file or directory");
  testing::write_bytes(path, "");
  CHECK(contains(refusal(path), "it is not an event file"));
  CHECK(refusal("/tmp").find("cannot open the event file /tmp") == 0);
  std::ofstream(path) << std::string(100000, 'q');
  CHECK(contains(refusal(path), "it is not an event file"));
  EventFile::create(path, 2);
  REQUIRE(::truncate(path.c_str(), 20000) == 0);
  CHECK(contains(refusal(path), "its size does not match"));
  CHECK_THROWS_AS(EventFile::create("/nonexistent/events", 2), UsageError);
  CHECK_THROWS_AS(EventFile::create(path, 0), UsageError);
}

TEST_CASE("untouched pages take no disk space") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("events");
  auto events = EventFile::create(path, 64);
  events->rank(3)->posted(send_to(1));
  struct stat status = {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK(status.st_blocks * 512 < status.st_size / 4);
}
