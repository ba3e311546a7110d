#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/launch/supervise/run_directory.h"
#include "common/testing/test.h"
#include "grading/judge/check_runs.h"

namespace lab::grading {
namespace {

Case case_named(const std::string& name) {
  Case test_case;
  test_case.task = "a0.double";
  test_case.name = name;
  return test_case;
}

/// A script as a submission's program: $FIRST is the descriptor of rank 0, $RECORD a file with one right record.
class Program {
 public:
  explicit Program(const std::string& script) {
    const UniqueFd file(::open(record().c_str(), O_CREAT | O_WRONLY, 0600));
    CaseRecord one;
    one.task = "a0.double";
    one.name = "Double";
    one.results["y"] = at::ones({3});
    write_record(file.get(), one);
    std::ofstream(path()) << "#!/bin/bash\nRECORD=" << record() << "\nwhile [[ $1 != --descriptors ]]; do shift; done\n"
                          << "FIRST=${2%%,*} SECOND=${2##*,}\n"
                          << script << "\n";
    ::chmod(path().c_str(), 0700);
  }

  CaseWorld run() const {
    CaseWorldSpec spec;
    spec.program = path();
    spec.num_ranks = 2;
    spec.cases = {"Double"};
    spec.readable = {record()};
    spec.stall_seconds = 2;
    return run_case_world(Sandbox::detect(), spec);
  }

 private:
  std::string path() const { return folder_.path() + "/program"; }
  std::string record() const { return folder_.path() + "/record"; }
  launch::RunDirectory folder_;
};

TEST_CASE("records come back by rank, and a run that ends with 0 has not failed") {
  const CaseWorld world = Program("cat $RECORD >&$FIRST; cat $RECORD >&$SECOND; echo Tensors match: False").run();
  CHECK_FALSE(world.failure);
  for (const int rank : {0, 1}) {
    const CaseRecord* record = world.find(rank, case_named("Double"));
    REQUIRE(record != nullptr);
    CHECK(at::equal(record->results.at("y"), at::ones({3})));
  }
  CHECK(world.find(0, case_named("Other")) == nullptr);
}

TEST_CASE("printed text is not a record") {
  const CaseWorld world = Program("cat $RECORD; echo '[Double][Rank 0] Tensors match: True'").run();
  CHECK_FALSE(world.failure);
  CHECK(world.find(0, case_named("Double")) == nullptr);
}

TEST_CASE("a rank that reports the same record twice, or an invalid one, is not believed") {
  const CaseWorld twice = Program("cat $RECORD $RECORD >&$FIRST; cat $RECORD >&$SECOND").run();
  REQUIRE(twice.failure);
  CHECK(twice.failure->message.find("two results of Double") != std::string::npos);
  const CaseWorld junk = Program("cat $RECORD >&$FIRST; { cat $RECORD; echo junk; } >&$SECOND").run();
  REQUIRE(junk.failure);
  CHECK(junk.failure->message.find("rank 1") != std::string::npos);
  CHECK(junk.find(1, case_named("Double")) != nullptr);  // earlier results are kept
}

TEST_CASE("a failed run has a message: the program's error, else how it ended") {
  CHECK(
      Program("echo warming up >&2; echo 'a0: error: rank 1: it is late' >&2; exit 5").run().failure.value().message ==
      "rank 1: it is late");
  CHECK(Program("exit 1").run().failure.value().message == "the program exited with code 1");
  const std::string crashed = Program("echo oops >&2; kill -SEGV $$").run().failure.value().message;
  CAPTURE(crashed);
  CHECK(crashed.find("it printed: oops") != std::string::npos);
}

TEST_CASE("a run that brings nothing new is ended, and keeps what it had brought") {
  const CaseWorld world = Program("cat $RECORD >&$FIRST; while :; do :; done").run();
  CHECK(world.result.end == SandboxResult::End::kStalled);
  REQUIRE(world.failure);
  CHECK(world.find(0, case_named("Double")) != nullptr);
}

}  // namespace
}  // namespace lab::grading
