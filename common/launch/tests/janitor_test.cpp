#include "common/launch/supervise/janitor.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <utility>

#include "common/base/subprocess.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"

using namespace lab;
using namespace lab::launch;

namespace {

/// Whether it comes true while anybody still waits for it.
bool comes_true(const std::function<bool()>& condition) {
  for (int turn = 0; turn < 1000; ++turn) {
    if (condition()) return true;
    ::usleep(20'000);
  }
  return false;
}

/// Not gone, and no zombie either.
bool is_at_work(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string id, name, state;
  return file >> id >> name >> state && state != "Z" && state != "X";
}

/// A process that stays when the one that started it ends, and works in its folder or, as another program, elsewhere.
pid_t leave_behind(const std::string& folder, bool works_there) {
  if (!works_there) {
    auto [read_end, write_end] = make_pipe();
    ProcessOptions options;
    options.stdout_fd = write_end.get();
    exec_process({"sh", "-c", "cd / && exec sleep 1000 <&- >&- 2>&- & echo $!"}, {}, options);
    write_end.reset();
    std::array<char, 20> text{};
    return ::read(read_end.get(), text.data(), text.size() - 1) > 0 ? std::atoi(text.data()) : -1;
  }
  const pid_t left_behind = ::fork();
  if (left_behind == 0) {
    for (const int fd : {0, 1, 2}) ::close(fd);  // if it stays, nobody waits for its output
    ::setsid();
    if (::chdir(folder.c_str()) == 0) ::pause();
    ::_exit(0);
  }
  return left_behind;
}

/// A process with a janitor, a folder and a process of its own; returns the latter once all are there.
pid_t start_worker(const std::string& parent, bool works_there, pid_t& worker) {
  auto [read_end, write_end] = make_pipe();
  worker = ::fork();
  REQUIRE(worker >= 0);
  if (worker == 0) {
    ::signal(SIGTERM, SIG_DFL);  // the tests' framework has a handler
    ::setenv("TMPDIR", parent.c_str(), 1);
    const Janitor janitor;
    const RunDirectory folder;
    std::ofstream(folder.path() + "/object.o") << "unfinished";
    const pid_t left_behind = leave_behind(folder.path(), works_there);
    write_fully(write_end.get(), std::string(reinterpret_cast<const char*>(&left_behind), sizeof left_behind));
    for (;;) ::pause();
  }
  write_end.reset();
  pid_t left_behind = 0;
  REQUIRE(::read(read_end.get(), &left_behind, sizeof left_behind) == static_cast<ssize_t>(sizeof left_behind));
  return left_behind;
}

}  // namespace

TEST_CASE("however a process ends, its folders and what works in them or was started by it are gone soon after") {
  for (const auto& [signal, works_there] : {std::pair(SIGKILL, true), {SIGKILL, false}, {SIGTERM, true}}) {
    CAPTURE(works_there);
    const lab::testing::TemporaryFolder parent;
    pid_t worker = -1;
    const pid_t left_behind = start_worker(parent.file(""), works_there, worker);
    REQUIRE(left_behind > 0);
    CHECK(parent.num_files() == 1);
    CHECK(::kill(worker, signal) == 0);
    CHECK(::waitpid(worker, nullptr, 0) == worker);
    CHECK(comes_true([&] { return parent.num_files() == 0; }));
    CHECK(comes_true([&] { return !is_at_work(left_behind); }));
  }
}

TEST_CASE("a process that ends in order has waited for its janitor") {
  const lab::testing::TemporaryFolder parent;
  const pid_t worker = fork_process([&] {
    ::setenv("TMPDIR", parent.file("").c_str(), 1);
    const Janitor janitor;
    const RunDirectory folder;
    return parent.num_files() == 1 ? 0 : 1;
  });
  int status = -1;
  CHECK(::waitpid(worker, &status, 0) == worker);
  CHECK(status == 0);
  CHECK(parent.num_files() == 0);
}
