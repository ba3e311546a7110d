#include "common/launch/supervise/run_in_child.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>

#include "common/api/errors.h"
#include "common/base/subprocess.h"
#include "common/testing/plain_test.h"
#include "common/testing/processes.h"
#include "common/testing/temporary_folder.h"

using namespace lab;
using namespace lab::launch;
using lab::testing::TemporaryFolder;

namespace {

/// The failure that run_in_child() raises, with its message.
Error describe_failure(const std::function<void()>& body) {
  try {
    run_in_child("the child", body);
  } catch (const Error& error) {
    return error;
  }
  return Error(ExitCode::kAllMatch, "nothing was thrown");
}

std::string make_end(const std::function<void()>& body) {
  const Error error = describe_failure(body);
  return std::to_string(static_cast<int>(error.exit_code())) + ": " + error.what();
}

}  // namespace

TEST_CASE("a body in a child leaves a file behind, and neither its memory nor a process") {
  const TemporaryFolder folder;
  int here = 1;
  run_in_child("the child", [&] {
    here = 2;
    std::FILE* file = std::fopen(folder.file("left").c_str(), "w");
    std::fputs("done", file);  // still buffered when body returns
  });
  CHECK(here == 1);
  CHECK(file_text(folder.file("left")) == "done");
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("several bodies run at the same time, and the first that fails is named when all have ended") {
  const TemporaryFolder folder;
  const auto meet = [&](const std::string& own, const std::string& other) {
    std::ofstream(folder.file(own)) << "here";
    while (!std::ifstream(folder.file(other))) ::usleep(1000);
  };
  ::alarm(60);  // ends this test where they run one after the other
  run_in_children({{"a", [&] { meet("a", "b"); }}, {"b", [&] { meet("b", "a"); }}});
  CHECK_THROWS_WITH_AS(run_in_children({{"right", [] {}},
                                        {"wrong", [] { throw CommError("of the second"); }},
                                        {"late",
                                         [&] {
                                           ::usleep(50000);
                                           std::ofstream(folder.file("late")) << "done";
                                           throw UsageError("of the third");
                                         }}}),
                       "of the second", CommError);
  ::alarm(0);
  CHECK(file_text(folder.file("late")) == "done");
}

TEST_CASE("what a body throws is raised again: the same kind, exit code and message") {
  CHECK_THROWS_WITH_AS(run_in_child("the child", [] { throw UsageError("--x 3: no"); }), "--x 3: no", UsageError);
  CHECK_THROWS_WITH_AS(run_in_child("the child", [] { throw ContractError("no"); }), "no", ContractError);
  CHECK_THROWS_WITH_AS(run_in_child("the child", [] { throw CommError("no"); }), "no", CommError);
  CHECK_THROWS_WITH_AS(run_in_child("the child", [] { throw DeadlockError("no"); }), "no", DeadlockError);
  CHECK(make_end([] { throw Error(ExitCode::kMismatch, "one line differs"); }) == "1: one line differs");
  CHECK(make_end([] { throw_not_implemented("a9.ring"); }) ==
        "3: task a9.ring is not implemented: its TODO was reached");
}

TEST_CASE("anything but a lab::Error, and what the machine refuses, is an internal error") {
  CHECK(make_end([] { throw std::runtime_error("view: wrong size\nException raised from x.cpp"); }) ==
        "70: view: wrong size");
  CHECK(make_end([] { throw std::bad_alloc(); }) == "2: out of memory");
  CHECK(make_end([] { throw 1; }) == "70: something that is not an exception was thrown");
}

TEST_CASE("a long message arrives whole") {
  const std::string message(300'000, 'x');  // more than a pipe holds
  CHECK(describe_failure([&] { throw ContractError(message); }).what() == message);
}

TEST_CASE("a child that is killed, or ends by itself, is told from one that returns") {
  CHECK(make_end([] { ::raise(SIGKILL); }) == "5: the child was killed by signal 9 (SIGKILL)");
  CHECK(make_end([] { ::raise(SIGTERM); }) == "5: the child was killed by signal 15 (SIGTERM)");
  CHECK(make_end([] { ::_exit(3); }) == "70: the child exited with code 3 before it was done");
  CHECK(make_end([] { ::_exit(0); }) == "70: the child exited with code 0 before it was done");
}

TEST_CASE("a process that the body leaves behind does not block the caller") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  pid_t left = 0;
  CHECK(make_end([&] {
          left = ::fork();
          if (left == 0) {
            for (;;) ::pause();
          }
          if (::write(ends[1], &left, sizeof(left)) == sizeof(left)) ::raise(SIGKILL);
        }) == "5: the child was killed by signal 9 (SIGKILL)");
  REQUIRE(::read(ends[0], &left, sizeof(left)) == sizeof(left));
  CHECK(is_alive(left));
  ::kill(left, SIGKILL);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("what is buffered before, in and after the child is printed once, in that order; of a failure, nothing") {
  const TemporaryFolder folder;
  const std::string path = folder.file("output");
  // In a separate process, because it redirects its output.
  run_in_child("the printer", [&] {
    if (std::freopen(path.c_str(), "w", stdout) == nullptr || ::dup2(::fileno(stdout), 2) < 0) ::_exit(1);
    std::printf("before ");
    try {
      run_in_child("the child", [] {
        std::cout << "in ";
        std::printf("it ");
        throw ContractError("no");
      });
    } catch (const ContractError&) {
      std::printf("after");
    }
  });
  CHECK(file_text(path) == "before in it after");
}

TEST_CASE("a child dies with the process that waits for it") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t waiting = ::fork();
  if (waiting == 0) {
    run_in_child("the child", [&] {
      const pid_t child = ::getpid();
      if (::write(ends[1], &child, sizeof(child)) != sizeof(child)) ::_exit(1);
      for (;;) ::pause();
    });
    ::_exit(0);
  }
  pid_t child = 0;
  REQUIRE(::read(ends[0], &child, sizeof(child)) == sizeof(child));
  CHECK(is_alive(child));
  ::kill(waiting, SIGKILL);
  ::waitpid(waiting, nullptr, 0);
  CHECK(becomes_true([child] { return !is_alive(child); }));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("a signal that ends this process ends the child first, and lets the caller clean up") {
  const TemporaryFolder folder;
  const std::string started = folder.file("started"), cleaned_up = folder.file("cleaned up");
  const auto make = [](const std::string& file) { std::fclose(std::fopen(file.c_str(), "w")); };
  const pid_t parent = fork_process([&]() -> int {
    try {
      run_in_child("the nap", [&] {
        make(started);
        for (;;) ::pause();
      });
    } catch (const Error& error) {
      if (std::string(error.what()) == "killed by signal 15 (SIGTERM) during the nap") make(cleaned_up);
      return static_cast<int>(error.exit_code());
    }
    return 0;
  });
  while (::access(started.c_str(), F_OK) != 0) ::usleep(1000);
  ::kill(parent, SIGTERM);
  int status = 0;
  REQUIRE(::waitpid(parent, &status, 0) == parent);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 128 + SIGTERM);
  CHECK(::access(cleaned_up.c_str(), F_OK) == 0);
}
