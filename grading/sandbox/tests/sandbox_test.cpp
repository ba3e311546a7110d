#include "grading/sandbox/sandbox.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/launch/supervise/run_directory.h"
#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

/// A shell script in a sandbox, with limits that a test can wait for.
SandboxJob script(const std::string& folder, const std::string& text) {
  SandboxJob job;
  job.argv = {"bash", "-c", text};
  job.folder = folder;
  job.limits.run_seconds = 20;
  return job;
}

/// With bubblewrap where it works, and without it everywhere.
std::vector<Sandbox> both() {
  std::vector<Sandbox> all = {Sandbox::detect(false)};
  if (const Sandbox isolating = Sandbox::detect(); isolating.isolates()) all.push_back(isolating);
  return all;
}

bool is_alive(pid_t pid) {
  return ::kill(pid, 0) == 0 || errno != ESRCH;
}

TEST_CASE("output and exit code come back, and the folder can be written to") {
  for (const Sandbox& sandbox : both()) {
    const launch::RunDirectory work;
    const SandboxResult result = sandbox.run(script(work.path(), "echo out; echo err >&2; echo here > file; exit 7"));
    CHECK(result.end == SandboxResult::End::kExited);
    CHECK(result.exit_code == 7);
    CHECK(result.out == "out\n");
    CHECK(result.err == "err\n");
    std::ifstream file(work.path() + "/file");
    std::string word;
    file >> word;
    CHECK(word == "here");
  }
}

TEST_CASE("what never ends is ended: by its time, or when nothing new comes of it") {
  for (const Sandbox& sandbox : both()) {
    const launch::RunDirectory work;
    SandboxJob job = script(work.path(), "while :; do :; done");
    job.limits.run_seconds = 0.5;
    CHECK(sandbox.run(job).end == SandboxResult::End::kOutOfTime);
    job.limits.run_seconds = 20;
    job.limits.stall_seconds = 0.5;
    int calls = 0;
    job.progress = [&calls] { return static_cast<std::uint64_t>(++calls < 3 ? calls : 3); };
    const SandboxResult stalled = sandbox.run(job);
    CHECK(stalled.end == SandboxResult::End::kStalled);
    CHECK(calls > 3);
  }
}

TEST_CASE("a process that uses up its CPU time is ended by the kernel") {
  for (const Sandbox& sandbox : both()) {
    const launch::RunDirectory work;
    SandboxJob job = script(work.path(), "while :; do :; done");
    job.limits.cpu_seconds = 1;
    const SandboxResult result = sandbox.run(job);
    CHECK(result.end == SandboxResult::End::kOutOfCpu);
    CHECK(result.ending() == "used more CPU time than it may");
    CHECK_FALSE(result.is_machines_fault());
  }
}

TEST_CASE("a job that the machine keeps from its end is run once more, and then not judged") {
  const launch::RunDirectory work;
  for (const bool wanted : {false, true}) {
    const Sandbox impatient = Sandbox::detect(wanted, 0.05);
    const SandboxJob job = script(work.path(), "echo started >>runs; sleep 300");
    CHECK(impatient.run(job).end == SandboxResult::End::kKeptWaiting);
    std::ofstream(work.path() + "/runs");
    CHECK_THROWS_AS(impatient.run_or_give_up(job), NotJudged);
    // The same job, if it gets its time, is not at fault.
    CHECK(Sandbox::detect(wanted).run_or_give_up(script(work.path(), "exit 3")).exit_code == 3);
  }
}

// Run by itself (grading_memory_runs_out): the kernel's count of kills is the machine's, so whatever else is judged at
// that moment and fails is not to blame either.
TEST_CASE("a job whose process the kernel kills because memory runs out is not to blame" * doctest::skip()) {
  // A memory cgroup that is too small plays the machine. The job joins it, so it must see the cgroups.
  const std::string group = fmt::format("/sys/fs/cgroup/memory/lab-test-{}", ::getpid());
  std::error_code refused;
  if (!std::filesystem::create_directory(group, refused)) {
    MESSAGE("skipped: no memory cgroup (version 1) can be made here");
    return;
  }
  std::ofstream(group + "/memory.limit_in_bytes") << (64 << 20);
  const launch::RunDirectory work;
  const SandboxResult result =
      Sandbox::detect(false).run(script(work.path(), "echo $$ >" + group +
                                                         "/cgroup.procs; x=$(head -c 300000000 "
                                                         "/dev/zero | tr '\\0' a); echo ${#x}; exit 3"));
  CHECK(std::filesystem::remove(group));
  CAPTURE(result.ending());
  CHECK(result.end == SandboxResult::End::kMachineOutOfMemory);
  CHECK(result.is_machines_fault());
}

/// Is first in PATH while it lives: bubblewrap as on a machine on which only root may create namespaces.
class RootsBubblewrap {
 public:
  RootsBubblewrap() : path_before_(std::getenv("PATH")) {
    const std::string name = folder_.path() + "/bwrap";
    std::ofstream(name) << "#!/bin/sh\n[ $(id -u) = 0 ] || exit 1\nPATH='" << path_before_ << "' exec bwrap \"$@\"\n";
    ::chmod(name.c_str(), 0755);
    ::chmod(folder_.path().c_str(), 0755);
    ::setenv("PATH", (folder_.path() + ":" + path_before_).c_str(), 1);
  }
  ~RootsBubblewrap() { ::setenv("PATH", path_before_.c_str(), 1); }

 private:
  const std::string path_before_;
  const launch::RunDirectory folder_;
};

TEST_CASE("where only root may create namespaces, student code is isolated all the same, and not root") {
  if (::geteuid() != 0 || !Sandbox::detect().isolates()) {
    MESSAGE("skipped: needs root, and namespaces");
    return;
  }
  const RootsBubblewrap instead;
  const Sandbox sandbox = Sandbox::detect();
  CHECK(sandbox.isolates());
  SandboxJob job =
      script("",
             "id -u; id -g; grep -c : /proc/net/dev; grep CapEff /proc/self/status; ls /etc/alternatives >/dev/null; "
             "ls /root");
  job.is_student_code = true;
  const SandboxResult result = sandbox.run(job);
  CAPTURE(result.err);
  CHECK(result.exit_code == 2);  // there is no /root
  CHECK(result.out == "65534\n65534\n1\nCapEff:\t0000000000000000\n");
}

TEST_CASE("student code may read what it is given, also in a folder that only root can enter") {
  const Sandbox sandbox = Sandbox::detect();
  if (::geteuid() != 0 || !sandbox.isolates()) {
    MESSAGE("skipped: needs root, and namespaces");
    return;
  }
  const launch::RunDirectory home;
  std::filesystem::permissions(home.path(), std::filesystem::perms::owner_all);
  std::filesystem::create_directories(home.path() + "/suite/libraries");
  std::ofstream(home.path() + "/suite/libraries/lib") << "42\n";
  std::ofstream(home.path() + "/suite/secret") << "43\n";
  SandboxJob job = script("", fmt::format("id -u; cat {0}/suite/libraries/lib; cat {0}/suite/secret", home.path()));
  job.is_student_code = true;
  const SandboxResult result = sandbox.also_reading({home.path() + "/suite/libraries"}).run(job);
  CAPTURE(result.err);
  CHECK(result.out == "65534\n42\n");
}

TEST_CASE("a program that cannot be started is the machine's fault") {
  const launch::RunDirectory work;
  SandboxJob job = script(work.path(), "true");
  job.folder = work.path() + "/gone";
  if (const Sandbox sandbox = Sandbox::detect(); sandbox.isolates())
    CHECK(sandbox.run(job).end == SandboxResult::End::kNotStarted);
}

TEST_CASE("endless output is counted and dropped") {
  for (const Sandbox& sandbox : both()) {
    const launch::RunDirectory work;
    SandboxJob job = script(work.path(), "head -c 3000000 /dev/zero; echo end >&2");
    job.limits.output_bytes = 1000;
    const SandboxResult result = sandbox.run(job);
    CHECK(result.out.size() == 1000);
    CHECK(result.dropped_bytes == 3000000 - 1000);
    CHECK(result.err == "end\n");
    job = script(work.path(), "cat /dev/zero");
    job.limits.dropped_bytes = 1u << 20;
    CHECK(sandbox.run(job).end == SandboxResult::End::kPrintedTooMuch);
  }
}

TEST_CASE("memory and file size have limits") {
  for (const Sandbox& sandbox : both()) {
    const launch::RunDirectory work;
    SandboxJob job = script(work.path(), "x=$(head -c 300000000 /dev/zero | tr '\\0' a); echo ${#x}");
    job.limits.memory_bytes = 100u << 20;
    const SandboxResult hungry = sandbox.run(job);
    CHECK(hungry.out.find("300000000") == std::string::npos);
    job = script(work.path(), "head -c 5000000 /dev/zero > big; echo written");
    job.limits.file_bytes = 1u << 20;
    sandbox.run(job);
    struct stat info = {};
    REQUIRE(::stat((work.path() + "/big").c_str(), &info) == 0);
    CHECK(info.st_size <= 1 << 20);
  }
}

TEST_CASE("processes and memory of all together have limits, too") {
  for (const Sandbox& sandbox : both()) {
    const launch::RunDirectory work;
    SandboxJob job = script(work.path(), "for i in $(seq 50); do sleep 300 & done; wait");
    job.limits.threads = 20;
    CHECK(sandbox.run(job).end == SandboxResult::End::kTooManyThreads);
    job = script(work.path(), "x=$(head -c 100000000 /dev/zero | tr '\\0' a); sleep 300");
    job.limits.total_memory_bytes = 50u << 20;
    CHECK(sandbox.run(job).end == SandboxResult::End::kOutOfMemory);
  }
}

TEST_CASE("the jobs of one submission share its time") {
  const launch::RunDirectory work;
  for (const Sandbox& sandbox : both()) {
    const Sandbox limited = sandbox.within(0.5), other = sandbox.within(60);
    CHECK_FALSE(limited.is_spent());
    CHECK(limited.run(script(work.path(), "while :; do :; done")).end == SandboxResult::End::kBudgetSpent);
    CHECK(limited.is_spent());
    CHECK_FALSE(limited.run(script(work.path(), "sleep 300")).is_machines_fault());
    CHECK(other.run(script(work.path(), "exit 3")).exit_code == 3);
  }
}

TEST_CASE("a process that stays behind is gone when the job has ended") {
  for (const Sandbox& sandbox : both()) {
    const launch::RunDirectory work;
    const SandboxResult result =
        sandbox.run(script(work.path(), "setsid sleep 300 >/dev/null 2>&1 & echo $!; kill -0 $! && echo alive"));
    CHECK(result.out.find("alive") != std::string::npos);
    // Under bubblewrap the pid belongs to another namespace; without it, to ours.
    if (!sandbox.isolates()) CHECK_FALSE(is_alive(std::stoi(result.out)));
  }
}

TEST_CASE("under bubblewrap there is no network, no file but those named, and hidden folders look empty") {
  const Sandbox sandbox = Sandbox::detect();
  if (!sandbox.isolates()) {
    MESSAGE("skipped: " << sandbox.level());
    return;
  }
  const launch::RunDirectory work, secret;
  std::ofstream(secret.path() + "/answers") << "42\n";
  SandboxJob job = script(work.path(), "cat " + secret.path() + "/answers 2>&1; ls " + secret.path());
  CHECK(sandbox.run(job).out.find("42") == std::string::npos);
  job.readable = {secret.path()};
  CHECK(sandbox.run(job).out.find("42") != std::string::npos);
  const Sandbox wider = sandbox.also_reading({secret.path(), secret.path() + "/nowhere"});
  CHECK(wider.run(script(work.path(), "cat " + secret.path() + "/answers")).out == "42\n");
  CHECK(wider.within(60).run(script(work.path(), "echo 43 >" + secret.path() + "/answers")).exit_code != 0);
  for (const std::string& hidden : {secret.path(), secret.path() + "/answers"}) {
    job.hidden = {hidden};
    CHECK(sandbox.run(job).out.find("42") == std::string::npos);
  }

  // Another machine cannot be reached: there are no sockets.
  job = script(work.path(), "echo > /dev/tcp/192.0.2.1/80 && echo reached");
  const SandboxResult network = sandbox.run(job);
  CHECK(network.out.find("reached") == std::string::npos);
  CHECK(network.err.find("not permitted") != std::string::npos);
  // Nor can world-readable files be changed.
  CHECK(sandbox.run(script(work.path(), "touch /usr/mine")).exit_code != 0);
}

TEST_CASE("what the surroundings hold stays there") {
  ::setenv("LAB_TEST_TOKEN", "secret", 1);
  for (const Sandbox& sandbox : both()) {
    const launch::RunDirectory work;
    CHECK(sandbox.run(script(work.path(), "echo $LAB_TEST_TOKEN $HOME")).out == "/tmp\n");
  }
  ::unsetenv("LAB_TEST_TOKEN");
}

}  // namespace
}  // namespace lab::grading
