#include "common/base/failure.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <stdexcept>

#include "common/base/errors.h"
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
  CHECK(lab::exit_code_of(lab::UsageError("x")) == 2);
  CHECK(lab::exit_code_of(lab::NotImplementedError("t")) == 3);
  CHECK(lab::exit_code_of(lab::ContractError("x")) == 4);
  CHECK(lab::exit_code_of(lab::CommError("x")) == 5);
  CHECK(lab::exit_code_of(lab::DeadlockError("x")) == 6);
  CHECK(lab::exit_code_of(std::runtime_error("x")) == 70);
}

TEST_CASE("failure: one message without LibTorch's backtrace") {
  CHECK(lab::message_of(std::runtime_error("bad shape\nException raised from f at a.cpp:1\nframe #0")) == "bad shape");
  CHECK(lab::message_of(std::runtime_error("can't allocate memory\nframe #0: f\nframe #1: g")) ==
        "can't allocate memory");
  CHECK(lab::message_of(std::runtime_error("a\nb\n")) == "a b");
  CHECK(lab::message_of(std::runtime_error("Exception raised from f")) == "no reason given");
  CHECK(lab::message_of(std::bad_alloc()) == "out of memory");
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
      for (const int fd : {1, 2}) lab::write_fully(fd, "[Rank 0] Tensors match: True\n");
      lab::write_fully(file, "{}");
      return file > 2 ? lab::ExitCode::kAllMatch : lab::ExitCode::kMismatch;
    }));
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(lab::testing::read_bytes(path) == "{}");
}

TEST_CASE("program name: the last part of the path") {
  CHECK(std::string(lab::cli::program_name("./build/bin/labrun")) == "labrun");
  CHECK(std::string(lab::cli::program_name("labrun")) == "labrun");
}
