#include "common/launch/supervise/supervisor.h"

#include <signal.h>
#include <unistd.h>

#include "common/base/subprocess.h"
#include "common/testing/plain_test.h"
#include "common/testing/processes.h"
#include "common/testing/temporary_folder.h"

using namespace lab;
using namespace lab::launch;

namespace {

constexpr double kLong = 600;  // a grace period that the test must not have to wait for

using Bodies = std::vector<std::function<int()>>;

SuperviseResult supervised(const Bodies& bodies, comm::EventFile* events = nullptr,
                           const SupervisorOptions& options = {0.1, 0.1, 0, true}) {
  Supervisor supervisor(options);
  for (std::size_t rank = 0; rank < bodies.size(); ++rank)
    supervisor.add({static_cast<int>(rank), fork_process(bodies[rank])});
  return supervisor.supervise(events);
}

int wait_for_ever() {
  for (;;) ::pause();
}

int die_by(int signal) {
  ::signal(signal, SIG_DFL);
  ::kill(::getpid(), signal);
  return wait_for_ever();
}

std::function<int()> returning(int exit_code) {
  return [exit_code] { return exit_code; };
}

// A rank that shows in the event file that it waits for a message, and exits like a real rank once there is a verdict.
std::function<int()> stuck(comm::EventFile& events, int rank, comm::Direction direction, int peer) {
  return [&events, rank, direction, peer] {
    auto pages = events.rank(rank);
    constexpr std::int64_t kShape[] = {1};
    pages->waiting(pages->posted({direction, peer, 0, 0, 4, "send", "float32", kShape, 1, {"a.cpp", 1}}));
    while (!events.verdict()) ::usleep(1000);
    return static_cast<int>(events.verdict()->exit_code);
  };
}

}  // namespace

TEST_CASE("a run that goes well has nothing to say") {
  const SuperviseResult result = supervised({returning(0), returning(0), returning(0)});
  CHECK(result.exit_code == 0);
  CHECK(result.first_failed_rank == -1);
  CHECK(result.message.empty());
  REQUIRE(result.exits.size() == 3);
  CHECK(result.exits[2].reason == "exited with code 0");
}

TEST_CASE("a failing rank stops the others, and its exit code is the run's") {
  const SuperviseResult result = supervised({wait_for_ever, returning(3), wait_for_ever});
  CHECK(result.exit_code == 3);
  CHECK(result.first_failed_rank == 1);
  CHECK(result.message == "rank 1 failed first: exited with code 3");
  CHECK_FALSE(result.exits[1].stopped);
  CHECK(result.exits[0].stopped);
  CHECK(result.exits[0].reason == "stopped by the launcher");
  CHECK(result.exits[0].exit_code == 128 + SIGTERM);
}

TEST_CASE("a killed rank is named with its signal") {
  const SuperviseResult result = supervised({wait_for_ever, [] { return die_by(SIGKILL); }});
  CHECK(result.exit_code == 137);
  CHECK(result.message == "rank 1 failed first: killed by signal 9 (SIGKILL)");
}

TEST_CASE("a rank that does not listen to SIGTERM is killed") {
  const SuperviseResult result = supervised({returning(4), [] {
                                               ::signal(SIGTERM, SIG_IGN);
                                               return wait_for_ever();
                                             }});
  CHECK(result.exit_code == 4);
  CHECK((result.exits[1].exit_code == 128 + SIGKILL ||
         result.exits[1].exit_code == 128 + SIGTERM));  // it may not be ignoring it yet
}

TEST_CASE("within the grace the others end by themselves, and are not to blame") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("events");
  auto events = comm::EventFile::create(path, 3);
  const auto survivor = [&events] {
    while (events->exit_reason(1).empty()) ::usleep(1000);
    return 5;
  };
  const SuperviseResult result =
      supervised({survivor, [] { return die_by(SIGSEGV); }, survivor}, events.get(), {kLong, kLong, 0, true});
  CHECK(result.exit_code == 128 + SIGSEGV);
  CHECK(result.first_failed_rank == 1);
  CHECK(result.exits[0].reason == "exited with code 5");
  CHECK_FALSE(result.exits[0].stopped);
  CHECK(events->exit_reason(1) == "killed by signal 11 (SIGSEGV)");
}

TEST_CASE("a rank with code 5 is not the cause where another failed by itself, even later") {
  const SuperviseResult result = supervised({returning(5),
                                             [] {
                                               ::usleep(100 * 1000);
                                               return 4;
                                             }},
                                            nullptr, {kLong, kLong, 0, true});
  CHECK(result.first_failed_rank == 1);
  CHECK(result.exit_code == 4);
  CHECK(supervised({returning(0), returning(5)}).exit_code == 5);
}

TEST_CASE("each end within the grace gives those that are left as long again") {
  const testing::TemporaryFolder folder;
  auto events = comm::EventFile::create(folder.file("events"), 3);
  const auto ends_after = [&events](int other, int code) {
    return [&events, other, code] {
      while (events->exit_reason(other).empty()) ::usleep(1000);
      ::usleep(1'800'000);  // two of them take longer than the grace
      return code;
    };
  };
  const SuperviseResult result =
      supervised({ends_after(1, 4), ends_after(2, 5), returning(5)}, events.get(), {3, kLong, 0, true});
  CHECK(result.first_failed_rank == 0);
  CHECK(result.exit_code == 4);
}

TEST_CASE("a rank that still tells the others why it failed is not stopped, and is the one to blame") {
  const testing::TemporaryFolder folder;
  auto events = comm::EventFile::create(folder.file("events"), 2);
  const auto slow_to_report = [&events] {
    events->rank(0)->set_activity(comm::RankActivity::kFailed, "4 rows do not divide by 3");
    while (events->exit_reason(1).empty()) ::usleep(1000);
    ::usleep(500 * 1000);  // longer than grace and kill time together
    return 2;
  };
  const auto told = [&events] {
    while (events->read(0, nullptr).activity != comm::RankActivity::kFailed) ::usleep(1000);
    return 5;
  };
  const SuperviseResult result = supervised({slow_to_report, told}, events.get());
  CHECK(result.first_failed_rank == 0);
  CHECK(result.exit_code == 2);
  SUBCASE("unless it takes longer than report_seconds") {
    const auto reports_for_ever = [&events] {
      events->rank(0)->set_activity(comm::RankActivity::kFailed, "4 rows do not divide by 3");
      return wait_for_ever();
    };
    SupervisorOptions brief{0.1, 0.1, 0, true};
    brief.report_seconds = 0.5;
    const SuperviseResult ended = supervised({reports_for_ever, told}, events.get(), brief);
    CHECK(ended.exits[0].stopped);
    CHECK(ended.exit_code == 5);
  }
}

TEST_CASE("a rank that has returned and reports a mismatch stops no other rank") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("events");
  auto events = comm::EventFile::create(path, 2);
  const SuperviseResult result = supervised({[&events] {
                                               events->rank(0)->set_activity(comm::RankActivity::kFinished);
                                               return 1;
                                             },
                                             [&events] {
                                               while (events->exit_reason(0).empty()) ::usleep(1000);
                                               ::usleep(500 * 1000);  // longer than grace and kill time together
                                               return 0;
                                             }},
                                            events.get());
  CHECK(result.exit_code == 1);
  CHECK(result.message == "rank 0 exited with code 1");
  CHECK(result.exits[1].exit_code == 0);
}

TEST_CASE("ranks that wait for each other are found out") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("events");
  auto events = comm::EventFile::create(path, 2);
  const SuperviseResult result =
      supervised({stuck(*events, 0, comm::Direction::kSend, 1), stuck(*events, 1, comm::Direction::kSend, 0)},
                 events.get(), {kLong, kLong, 0, true});
  CHECK(result.exit_code == 6);
  CHECK(result.message ==
        "deadlock: rank 0 waits to send 4 B to rank 1 (a.cpp:1), rank 1 waits to send 4 B to rank 0 (a.cpp:1)");
  CHECK(result.rank_lines.size() == 2);
  CHECK(result.exits[0].reason == "exited with code 6");
  CHECK(events->verdict()->message == result.message);
}

TEST_CASE("a wait for a rank that has returned is found out") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("events");
  auto events = comm::EventFile::create(path, 2);
  const SuperviseResult result =
      supervised({stuck(*events, 0, comm::Direction::kRecv, 1), returning(0)}, events.get(), {kLong, kLong, 0, true});
  CHECK(result.exit_code == 6);
  CHECK(result.message.find("but rank 1 has already returned") != std::string::npos);
}

TEST_CASE("the time-out of a run ends it, and tells what the ranks were doing") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("events");
  auto events = comm::EventFile::create(path, 1);
  events->rank(0)->set_activity(comm::RankActivity::kRunning);
  const SuperviseResult result = supervised({wait_for_ever}, events.get(), {0.1, 0.1, 0.2, true});
  CHECK(result.exit_code == 5);
  CHECK(result.message == "the run took longer than its time-out of 0.2 s");
  CHECK(result.rank_lines == std::vector<std::string>{"rank 0 computes; no message yet"});
}

TEST_CASE("what a rank started in the background goes with it, in its group or out of it") {
  for (const char* script : {"sleep 1000 & exit 0", "setsid sleep 1000 & exit 0", "sleep 1000 & exit 3"}) {
    const std::string mark = "LAB_TEST_MARK=supervisor" + std::to_string(::getpid());
    Supervisor supervisor({0.1, 0.1, 0, true});
    supervisor.add({0, exec_process({"sh", "-c", script}, {{"LAB_TEST_MARK", mark.substr(14)}})});
    supervisor.supervise();
    CHECK(processes_with_variable(mark).empty());
  }
}

TEST_CASE("children that the supervisor was not given are left alone") {
  const pid_t other = fork_process(wait_for_ever);
  supervised({returning(0)});
  CHECK(is_alive(other));
  ::kill(other, SIGKILL);
  choose_exit_code(other);
}

TEST_CASE("a supervisor that goes before its time takes the ranks along") {
  pid_t rank = 0;
  {
    Supervisor supervisor;
    rank = fork_process(wait_for_ever);
    supervisor.add({0, rank});
  }
  CHECK_FALSE(is_alive(rank));
}

TEST_CASE("signals to the launcher are passed on and end the run") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    Supervisor supervisor({kLong, kLong, 0, true});
    const pid_t rank = fork_process(wait_for_ever);
    supervisor.add({0, rank});
    ::kill(::getpid(), signal);
    const SuperviseResult result = supervisor.supervise();
    CHECK(result.exit_code == 128 + signal);
    CHECK(result.exits[0].exit_code == 128 + signal);
    CHECK(result.message.find("interrupted by SIG") == 0);
    CHECK_FALSE(is_alive(rank));
  }
}

namespace {

/// Computes, as the event file shows, with this time-out for waits.
std::function<int()> computing(comm::EventFile& events, int rank, double timeout_seconds,
                               const std::function<int()>& body) {
  return [&events, rank, timeout_seconds, body] {
    auto pages = events.rank(rank);
    pages->set_timeout(timeout_seconds);
    pages->set_activity(comm::RankActivity::kRunning);
    return body();
  };
}

int stop_oneself() {
  ::kill(::getpid(), SIGSTOP);
  return wait_for_ever();
}

}  // namespace

TEST_CASE("a rank that stays stopped for its time-out ends the run, and is named") {
  const testing::TemporaryFolder folder;
  auto events = comm::EventFile::create(folder.file("events"), 2);
  const SuperviseResult result =
      supervised({computing(*events, 0, 0.1, wait_for_ever), computing(*events, 1, 0.1, stop_oneself)}, events.get());
  CHECK(result.exit_code == 5);
  CHECK(result.message == "rank 1 was stopped by SIGSTOP and did not continue for 0.1 s");
  REQUIRE(result.rank_lines.size() == 2);
  CHECK(result.rank_lines[0] == "rank 0 computes; no message yet");
  CHECK(result.rank_lines[1] == "rank 1 is stopped by SIGSTOP while it computes; no message yet");
}

TEST_CASE("a rank that continues in time is not ended") {
  const testing::TemporaryFolder folder;
  auto events = comm::EventFile::create(folder.file("events"), 2);
  const auto continued = [&events] {
    const pid_t own = ::getpid();
    const pid_t helper = ::fork();
    if (helper == 0) {
      while (events->read(1, nullptr).stopped_by == 0) ::usleep(1000);
      ::kill(own, SIGCONT);
      ::_exit(0);
    }
    ::kill(own, SIGSTOP);
    while (events->read(1, nullptr).stopped_by != 0) ::usleep(1000);
    return 0;
  };
  const SuperviseResult result = supervised({returning(0), computing(*events, 1, kLong, continued)}, events.get());
  CHECK(result.exit_code == 0);
}

TEST_CASE("ranks that all stand still end after the stall limit, with a line for each") {
  const testing::TemporaryFolder folder;
  auto events = comm::EventFile::create(folder.file("events"), 2);
  const SuperviseResult result =
      supervised({computing(*events, 0, 0.01, wait_for_ever), computing(*events, 1, 0.01, wait_for_ever)}, events.get(),
                 {0.1, 0.1, 0, true, 0.3});
  CHECK(result.exit_code == 5);
  CHECK(result.message == "no rank has sent, received or reported anything for 0.3 s");
  CHECK(result.rank_lines.size() == 2);
  CHECK(stall_seconds(10, 60) == 60);
  CHECK(stall_seconds(100, 60) == 600);
}

TEST_CASE("an interrupted run tells what each rank was doing") {
  const testing::TemporaryFolder folder;
  auto events = comm::EventFile::create(folder.file("events"), 2);
  const pid_t launcher = ::getpid();
  const auto interrupting = [launcher] {
    ::kill(launcher, SIGINT);
    return wait_for_ever();
  };
  const SuperviseResult result = supervised(
      {computing(*events, 0, kLong, interrupting), stuck(*events, 1, comm::Direction::kRecv, 0)}, events.get());
  CHECK(result.exit_code == 130);
  REQUIRE(result.rank_lines.size() == 2);
  CHECK(result.rank_lines[0] == "rank 0 computes; no message yet");
}
