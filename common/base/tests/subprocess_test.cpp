#include "common/base/subprocess.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/api/errors.h"
#include "common/testing/plain_test.h"
#include "common/testing/processes.h"

using namespace lab;

TEST_CASE("a forked child ends with what its body returns") {
  CHECK(choose_exit_code(fork_process([] { return 7; })) == 7);
  CHECK(choose_exit_code(fork_process([] { return 0; })) == 0);
}

TEST_CASE("what a body throws becomes its exit code") {
  const UniqueFd nowhere = null_output();
  const ProcessOptions quiet = {false, -1, nowhere.get()};
  CHECK(choose_exit_code(fork_process([]() -> int { throw ContractError("no"); }, quiet)) == 4);
  CHECK(choose_exit_code(fork_process([]() -> int { throw std::runtime_error("no"); }, quiet)) == 70);
  CHECK(choose_exit_code(fork_process([]() -> int { throw 1; }, quiet)) == 70);
}

TEST_CASE("a child leads its group, unless it keeps the terminal") {
  CHECK(choose_exit_code(fork_process([] { return ::getpgrp() == ::getpid() ? 0 : 1; })) == 0);
  const pid_t group = ::getpgrp();
  CHECK(choose_exit_code(fork_process([group] { return ::getpgrp() == group ? 0 : 1; }, {true, -1, -1})) == 0);
}

TEST_CASE("a child starts with no signal blocked, and nohup's SIGHUP still ignored") {
  sigset_t all, before;
  sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  ::signal(SIGHUP, SIG_IGN);
  const int code = choose_exit_code(fork_process([] {
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
  const pid_t pid = exec_process(
      {"sh", "-c", "test \"$LAB_TEST_KEPT$LAB_TEST_CHANGED$LAB_TEST_NEW$1\" = 'keptnewa b*c d'", "sh", "*c d"},
      {{"LAB_TEST_CHANGED", "new"}, {"LAB_TEST_NEW", "a b"}});
  CHECK(choose_exit_code(pid) == 0);
}

TEST_CASE("a program that cannot be run is refused in one message, and leaves no process") {
  CHECK_THROWS_WITH_AS(exec_process({"/nonexistent/program"}, {}),
                       "cannot run /nonexistent/program: No such file or directory", UsageError);
  CHECK_THROWS_WITH_AS(exec_process({"/etc/passwd"}, {}), "cannot run /etc/passwd: Permission denied", UsageError);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("a child dies with the process that made it, whatever that one died of") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    const pid_t rank = fork_process([] {
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
  CHECK(becomes_true([rank] { return !is_alive(rank); }));
  ::close(ends[0]);
  ::close(ends[1]);
}

namespace {

ProgramEnd run_script(const std::string& script, double max_seconds = 60) {
  ProcessSpec shell;
  shell.argv = {"sh", "-c", script};
  return run_program(shell, max_seconds);
}

}  // namespace

TEST_CASE("a program's output and end come back") {
  const ProgramEnd end = run_script("echo heard; printf 'no slots\\n  left\\n' >&2; exit 3");
  CHECK_FALSE(end.well());
  CHECK(exit_code_of_status(end.status) == 3);
  CHECK(end.out == "heard\n");
  CHECK(end.message() == "exited with code 3: no slots left");
  CHECK(run_script("kill -9 $$").message() == "was killed by signal 9 (SIGKILL)");
  CHECK(run_script("exit 0").well());
  CHECK(run_script("printf %4000s x | tr ' ' y >&2").message().size() < 400);
  ProcessSpec missing;
  missing.argv = {"no-such-program-here"};
  CHECK_THROWS_AS(run_program(missing), UsageError);
}

TEST_CASE("a program reads its input and works in its folder") {
  ProcessSpec command;
  command.argv = {"sh", "-c", "pwd; cat"};
  command.folder = "/usr";
  command.input = std::string(1 << 20, 'x');
  const ProgramEnd end = run_program(command);
  CHECK(end.out == "/usr\n" + *command.input);
  command.folder = "/nonexistent";
  CHECK_THROWS_AS(run_program(command), UsageError);
}

TEST_CASE("what a program prints beyond the limit is counted and dropped") {
  ProcessSpec command;
  command.argv = {"sh", "-c", "head -c 3000000 /dev/zero; echo end >&2"};
  command.max_output_bytes = 1000;
  Subprocess process(command);
  while (!process.wait_for(1)) {
  }
  CHECK(process.out().size() == 1000);
  CHECK(process.err() == "end\n");
  CHECK(process.dropped_bytes() == 3'000'000 - 1000);
}

TEST_CASE("a program that does not end is asked to end, and killed with its group") {
  const ProgramEnd asked = run_script("echo waiting >&2; exec sleep 3600", 0.2);
  CHECK(asked.timed_out);
  CHECK_FALSE(asked.well());
  CHECK(asked.message() == "timed out after 0.2 s: waiting");
  CHECK(exit_code_of_status(asked.status) == 128 + SIGTERM);
  // One that is killed at once, and one that is left behind: both are in the group.
  ProcessSpec command;
  command.argv = {"sh", "-c", "sleep 3600 & echo $!; wait"};
  pid_t left = 0;
  {
    Subprocess process(command);
    REQUIRE(becomes_true([&] { return process.wait_for(0.01) || process.out().find('\n') != std::string::npos; }));
    left = static_cast<pid_t>(std::stol(process.out()));
    CHECK(is_alive(left));
  }
  CHECK(becomes_true([left] { return !is_alive(left); }));
  left = static_cast<pid_t>(std::stol(run_script("sleep 3600 & echo $!").out));
  CHECK(becomes_true([left] { return !is_alive(left); }));
}

TEST_CASE("a program that ignores SIGTERM is killed in the end") {
  const ProgramEnd end = run_script("trap '' TERM; while :; do sleep 1; done", 0.2);
  CHECK(end.timed_out);
  CHECK(exit_code_of_status(end.status) == 128 + SIGKILL);
}

TEST_CASE("a command's words: quotes and backslashes keep what would split them") {
  using Words = std::vector<std::string>;
  CHECK(split_command("") == Words{});
  CHECK(split_command("  srun  -N1\t-n1\n") == Words{"srun", "-N1", "-n1"});
  CHECK(split_command("srun -J 'my \"class\"' --x=\"a 'b'\"c") == Words{"srun", "-J", "my \"class\"", "--x=a 'b'c"});
  CHECK(split_command("a\\ b \"c\\\"d\" 'e\\' ''") == Words{"a b", "c\"d", "e\\", ""});
  CHECK_FALSE(split_command("nice 'x").has_value());
  CHECK_FALSE(split_command("nice x\"").has_value());
}

TEST_CASE("a program is found in PATH, or not") {
  CHECK(is_in_path("sh"));
  CHECK_FALSE(is_in_path("no-such-program-here"));
  CHECK(own_program().find("lab_base_tests") != std::string::npos);
}
