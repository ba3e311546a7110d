#include "common/launch/supervise/rank_output.h"

#include <filesystem>

#include "common/api/errors.h"
#include "common/base/subprocess.h"
#include "common/launch/supervise/run_directory.h"
#include "common/testing/plain_test.h"
#include "common/testing/processes.h"

using namespace lab;
using namespace lab::launch;

namespace {

// Two ranks that write into files in `logs`; what is copied through this process goes to its stderr.
int write_logs(const std::string& logs, bool tee_stderr) {
  RankOutput output({logs, false, tee_stderr});
  for (int rank = 0; rank < 2; ++rank) {
    const RankOutput::Fds fds = output.open(rank);
    const std::string script = "echo out" + std::to_string(rank) + "; printf 'err%s' " + std::to_string(rank) + " >&2";
    if (choose_exit_code(exec_process({"sh", "-c", script}, {}, {false, fds.out, fds.err})) != 0) return 1;
  }
  output.start();
  output.finish();
  return 0;
}

}  // namespace

TEST_CASE("each rank's output goes into files of its own, in a folder that is made") {
  const RunDirectory directory;
  const std::string logs = directory.path() + "/a/b";
  const std::string copy = directory.path() + "/copy";
  for (const bool tee : {false, true}) {
    const UniqueFd copy_file(::open(copy.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    CHECK(choose_exit_code(fork_process([&] { return write_logs(logs, tee); }, {false, -1, copy_file.get()})) == 0);
    CHECK(file_text(logs + "/rank0.log") == "out0\n");
    CHECK(file_text(logs + "/rank0.err") == "err0");
    CHECK(file_text(logs + "/rank1.log") == "out1\n");
    CHECK(file_text(logs + "/rank1.err") == "err1");
    const std::string copied = file_text(copy);
    CHECK((tee ? copied == "err0\nerr1\n" || copied == "err1\nerr0\n" : copied.empty()));
  }
}

TEST_CASE("without a folder and without tee the ranks keep this process's output") {
  RankOutput output({"", false, false});
  CHECK(output.open(0).out == -1);
  CHECK(output.open(0).err == -1);
  output.start();
  output.finish();
}

TEST_CASE("a folder that cannot be made is refused in one message") {
  const RunDirectory directory;
  CHECK_THROWS_AS(RankOutput({"/proc/nothing/logs", false, false}), UsageError);
  choose_exit_code(exec_process({"touch", directory.path() + "/file"}, {}));
  CHECK_THROWS_AS(RankOutput({directory.path() + "/file", false, false}), UsageError);
}

TEST_CASE("a run's folder is private and goes with it") {
  std::string path;
  {
    const RunDirectory directory;
    path = directory.path();
    CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::others_all) ==
          std::filesystem::perms::none);
    choose_exit_code(exec_process({"touch", directory.path() + "/a", directory.path() + "/b"}, {}));
  }
  CHECK_FALSE(std::filesystem::exists(path));
}
