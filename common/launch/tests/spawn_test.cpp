#include "common/launch/supervise/spawn.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/errors.h"
#include "common/launch/tests/processes.h"
#include "common/testing/plain_test.h"

using namespace lab;

TEST_CASE("a forked rank ends with what its body returns") {
  CHECK(exit_code_of(fork_rank([] { return 7; })) == 7);
  CHECK(exit_code_of(fork_rank([] { return 0; })) == 0);
}

TEST_CASE("what a body throws becomes its exit code") {
  const UniqueFd nowhere = null_output();
  const SpawnOptions quiet = {false, -1, nowhere.get()};
  CHECK(exit_code_of(fork_rank([]() -> int { throw ContractError("no"); }, quiet)) == 4);
  CHECK(exit_code_of(fork_rank([]() -> int { throw std::runtime_error("no"); }, quiet)) == 70);
  CHECK(exit_code_of(fork_rank([]() -> int { throw 1; }, quiet)) == 70);
}

TEST_CASE("a rank leads its group, unless it keeps the terminal") {
  CHECK(exit_code_of(fork_rank([] { return ::getpgrp() == ::getpid() ? 0 : 1; })) == 0);
  const pid_t group = ::getpgrp();
  CHECK(exit_code_of(fork_rank([group] { return ::getpgrp() == group ? 0 : 1; }, {true, -1, -1})) == 0);
}

TEST_CASE("a rank starts with no signal blocked, and nohup's SIGHUP still ignored") {
  sigset_t all, before;
  sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  ::signal(SIGHUP, SIG_IGN);
  const int code = exit_code_of(fork_rank([] {
    sigset_t blocked;
    ::sigprocmask(SIG_BLOCK, nullptr, &blocked);
    for (int signal = 1; signal < 32; ++signal) {
      if (sigismember(&blocked, signal) == 1) return 1;
    }
    ::raise(SIGHUP);
    return 0;
  }));
  ::signal(SIGHUP, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  CHECK(code == 0);
}

TEST_CASE("a program gets its arguments and the added variables") {
  ::setenv("LAB_TEST_KEPT", "kept", 1);
  ::setenv("LAB_TEST_CHANGED", "old", 1);
  const pid_t pid = exec_rank(
      {"sh", "-c", "test \"$LAB_TEST_KEPT$LAB_TEST_CHANGED$LAB_TEST_NEW$1\" = 'keptnewa b*c d'", "sh", "*c d"},
      {{"LAB_TEST_CHANGED", "new"}, {"LAB_TEST_NEW", "a b"}});
  CHECK(exit_code_of(pid) == 0);
}

TEST_CASE("a program that cannot be run is refused in one message, and leaves no process") {
  CHECK_THROWS_WITH_AS(exec_rank({"/nonexistent/program"}, {}),
                       "cannot run /nonexistent/program: No such file or directory", UsageError);
  CHECK_THROWS_WITH_AS(exec_rank({"/etc/passwd"}, {}), "cannot run /etc/passwd: Permission denied", UsageError);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("a rank dies with the process that made it, whatever that one died of") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    const pid_t rank = fork_rank([] {
      for (;;) ::pause();
      return 0;
    });
    if (::write(ends[1], &rank, sizeof(rank)) != sizeof(rank)) ::_exit(1);
    for (;;) ::pause();
  }
  pid_t rank = 0;
  REQUIRE(::read(ends[0], &rank, sizeof(rank)) == sizeof(rank));
  CHECK(is_alive(rank));
  ::kill(launcher, SIGKILL);
  ::waitpid(launcher, nullptr, 0);
  CHECK(soon([rank] { return !is_alive(rank); }));
  ::close(ends[0]);
  ::close(ends[1]);
}
