#include "common/base/failure.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/cli/guarded_main.h"
#include "common/testing/captured.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"

namespace {

lab::ExitCode throw_usage(int, char**) {
  throw lab::UsageError("--nproc: wrong");
}
lab::ExitCode throw_other(int, char**) {
  throw std::runtime_error(
      "size of tensor a (2)\n  must match b\nException raised from infer at ../x.cpp:3\nframe #0: c10::Error");
}
lab::ExitCode throw_number(int, char**) {
  throw 3;
}
lab::ExitCode mismatch(int, char**) {
  return lab::ExitCode::kMismatch;
}
lab::ExitCode stub(int, char**) {
  lab::not_implemented("a9.broadcast");
}

struct Ended {
  int exit_code;
  std::string err;
};

Ended run(lab::ExitCode (*body)(int, char**)) {
  std::string name = "build/bin/a5_pipeline";
  char* argv[] = {name.data(), nullptr};
  int exit_code = -1;
  std::string err = lab::testing::captured(2, [&] { exit_code = lab::cli::guarded_main(1, argv, body); });
  return {exit_code, err};
}

}  // namespace

TEST_CASE("failure: exit codes of our errors and of others") {
  CHECK(lab::choose_exit_code(lab::UsageError("x")) == 2);
  CHECK(lab::choose_exit_code(lab::NotImplementedError("t")) == 3);
  CHECK(lab::choose_exit_code(lab::ContractError("x")) == 4);
  CHECK(lab::choose_exit_code(lab::CommError("x")) == 5);
  CHECK(lab::choose_exit_code(lab::DeadlockError("x")) == 6);
  CHECK(lab::choose_exit_code(std::runtime_error("x")) == 70);
}

TEST_CASE("failure: one message without LibTorch's backtrace") {
  CHECK(lab::get_message(std::runtime_error("bad shape\nException raised from f at a.cpp:1\nframe #0")) == "bad shape");
  CHECK(lab::get_message(std::runtime_error("can't allocate memory\nframe #0: f\nframe #1: g")) ==
        "can't allocate memory");
  CHECK(lab::get_message(std::runtime_error("a\nb\n")) == "a b");
  CHECK(lab::get_message(std::runtime_error("Exception raised from f")) == "no reason given");
  CHECK(lab::get_message(std::bad_alloc()) == "out of memory");
}

TEST_CASE("guarded main: exit code and one line on stderr for anything thrown out of the body") {
  CHECK(run(mismatch).exit_code == 1);
  CHECK(run(mismatch).err.empty());
  CHECK(run(throw_usage).exit_code == 2);
  CHECK(run(throw_usage).err == "a5_pipeline: error: --nproc: wrong\n");
  CHECK(run(stub).exit_code == 3);
  CHECK(run(stub).err == "a5_pipeline: error: task a9.broadcast is not implemented: its TODO was reached\n");
  CHECK(run(throw_other).exit_code == 70);
  CHECK(run(throw_other).err == "a5_pipeline: internal error: size of tensor a (2) must match b\n");
  CHECK(run(throw_number).exit_code == 70);
  CHECK(run(throw_number).err == "a5_pipeline: internal error: something that is not an exception was thrown\n");
}

TEST_CASE("guarded main: with descriptors 0 to 2 closed, no file of the program gets their numbers") {
  const lab::testing::TemporaryFolder folder;
  const std::string path = folder.file("results.txt");
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int fd : {0, 1, 2}) ::close(fd);
    std::string name = "a4";
    char* argv[] = {name.data(), nullptr};
    ::_exit(lab::cli::guarded_main(1, argv, [&](int, char**) {
      const int file = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
      const int failed = lab::write_fully(1, "[Rank 0] Tensors match: True\n");
      lab::write_fully(2, "in model time\n");
      lab::write_fully(file, "{}");
      return file > 2 && failed == EBADF ? lab::ExitCode::kAllMatch : lab::ExitCode::kMismatch;
    }));
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(lab::testing::read_bytes(path) == "{}");
}

TEST_CASE("guarded main: output that could not be written is reported as an error") {
  // What a program prints through stdio or the file descriptor is the same to it.
  const auto ended = [](const char* file, int fd, const std::function<lab::ExitCode()>& body) {
    const lab::testing::TemporaryFolder folder;
    const std::string messages = folder.file("messages");
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(::open(messages.c_str(), O_WRONLY | O_CREAT, 0600), 2);
      if (file == nullptr) ::close(fd);
      if (file != nullptr) ::dup2(::open(file, O_WRONLY), fd);
      std::string name = "a4";
      char* argv[] = {name.data(), nullptr};
      ::_exit(lab::cli::guarded_main(1, argv, [&](int, char**) { return body(); }));
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return std::make_pair(WEXITSTATUS(status), lab::testing::read_bytes(messages));
  };
  const auto prints = [] {
    std::fputs("[Rank 0] done\n", stdout);
    return lab::ExitCode::kAllMatch;
  };
  CHECK(ended("/dev/null", 1, prints).first == 0);
  CHECK(ended("/dev/full", 1, prints) ==
        std::make_pair(2, std::string("a4: error: cannot write to standard output: expected room for every line (No "
                                      "space left on device)\n")));
  CHECK(ended("/dev/full", 1, [&] {
          prints();
          return lab::ExitCode::kMismatch;
        }) == std::make_pair(1, ended("/dev/full", 1, prints).second));
  CHECK(ended(nullptr, 1, prints).first == 2);
  CHECK(ended(nullptr, 1, prints).second.find("it is closed; expected a terminal, a file or a pipe") !=
        std::string::npos);
  CHECK(ended(nullptr, 1, [] { return lab::ExitCode::kAllMatch; }).first == 0);  // there was nothing to print
  const auto prints_much = [] {
    for (int line = 0; line < 1000; ++line) fmt::print("[Rank 0] {}\n", line);
    return lab::ExitCode::kAllMatch;
  };
  for (const char* file : {"/dev/full", static_cast<const char*>(nullptr)})
    CHECK(ended(file, 1, prints_much).first == 2);
  const auto says = [](lab::ExitCode exit_code) {
    return [exit_code] {
      std::fputs("in model time\n", stderr);
      return exit_code;
    };
  };
  CHECK(ended("/dev/full", 2, says(lab::ExitCode::kAllMatch)).first == 2);
  CHECK(ended("/dev/full", 2, says(lab::ExitCode::kMismatch)).first == 1);
  CHECK(ended("/dev/full", 2, []() -> lab::ExitCode {
          fmt::print(stderr, "written: x\n");
          return lab::ExitCode::kAllMatch;
        }).first == 2);
}

TEST_CASE("failure: what the machine refuses is named as its limit, not as a bug in the suite") {
  const auto with_limit = [](__rlimit_resource resource, rlim_t most, const std::function<void()>& body) {
    rlimit before = {};
    ::getrlimit(resource, &before);
    const rlimit lower = {most, before.rlim_max};
    ::setrlimit(resource, &lower);
    body();
    ::setrlimit(resource, &before);
  };
  const std::system_error no_thread(EAGAIN, std::generic_category());
  CHECK(lab::choose_exit_code(no_thread) == 2);
  with_limit(RLIMIT_NPROC, 12, [&] {
    CHECK(lab::get_message(no_thread) ==
          "Resource temporarily unavailable: this user may have 12 processes and threads; hint: raise the limit with "
          "ulimit -u, or start fewer ranks");
  });
  CHECK(lab::choose_exit_code(std::bad_alloc()) == 2);
  with_limit(RLIMIT_AS, rlim_t{1} << 40, [&] {
    CHECK(lab::get_message(no_thread).find(
              "and this process may use 1 TiB; hint: raise the limit with ulimit -u or -v") != std::string::npos);
    CHECK(lab::get_message(std::bad_alloc()) ==
          "out of memory: this process may use 1 TiB; hint: raise the limit with ulimit -v");
    const std::runtime_error of_torch(
        "[enforce fail at alloc_cpu.cpp:66] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 "
        "bytes. Error code 12 (Cannot allocate memory)\nframe #0: f");
    CHECK(lab::choose_exit_code(of_torch) == 2);
    CHECK(lab::get_message(of_torch) ==
          "DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes. Error code 12 (Cannot allocate "
          "memory): this process may use 1 TiB; hint: raise the limit with ulimit -v");
  });
  with_limit(RLIMIT_NOFILE, 77, [&] {
    CHECK(lab::get_message(std::system_error(EMFILE, std::generic_category(), "cannot open x")) ==
          "cannot open x: Too many open files: this process may open 77; hint: raise the limit with ulimit -n");
  });
  CHECK(lab::choose_exit_code(
            std::filesystem::filesystem_error("x", std::make_error_code(std::errc::no_space_on_device))) == 2);
  CHECK(lab::choose_exit_code(std::system_error(EDEADLK, std::generic_category())) == 70);
}

TEST_CASE("program name: the last part of the path") {
  CHECK(std::string(lab::cli::program_name("./build/bin/labrun")) == "labrun");
  CHECK(std::string(lab::cli::program_name("labrun")) == "labrun");
}
