#include "grading/sandbox/supervise_jobs.h"

#include <unistd.h>

#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

/// A job that has printed so much, and runs until it is killed: as the ranks of one server, with the others.
class Printer final : public RunningJob {
 public:
  Printer(std::uint64_t dropped_bytes, std::shared_ptr<bool> killed)
      : dropped_bytes_(dropped_bytes), killed_(std::move(killed)) {}
  pid_t pid() const override { return ::getpid(); }
  bool wait_for(double) override { return *killed_; }
  void kill() override { *killed_ = true; }
  int status() const override { return 0; }
  std::string out() const override { return ""; }
  std::string err() const override { return ""; }
  std::uint64_t dropped_bytes() const override { return dropped_bytes_; }

 private:
  const std::uint64_t dropped_bytes_;
  const std::shared_ptr<bool> killed_;
};

std::vector<StartedJob> printers(std::initializer_list<std::uint64_t> megabytes) {
  const auto killed = std::make_shared<bool>(false);
  std::vector<StartedJob> jobs;
  for (const std::uint64_t printed : megabytes) {
    jobs.emplace_back();
    jobs.back().job = std::make_unique<Printer>(printed << 20, killed);
  }
  return jobs;
}

TEST_CASE("of jobs that run together, the one that printed too much is to blame, not those stopped with it") {
  const std::vector<StartedJob> jobs = printers({1, 2, 65, 3});
  Supervision supervision;
  supervision.most_wall_seconds = 60;
  const std::vector<SandboxResult> results = supervise_jobs(jobs, supervision);
  REQUIRE(results.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(results[i].ending() ==
          (i == 2 ? "was stopped after printing more than 64 MiB" : "was stopped with the others"));
    CHECK_FALSE(results[i].is_machines_fault());
  }
}

TEST_CASE("where all print without end, it is not chance who is ahead that decides which is named") {
  const std::vector<StartedJob> jobs = printers({1, 9, 70, 64});
  Supervision supervision;
  supervision.most_wall_seconds = 60;
  std::vector<std::string> endings;
  for (const SandboxResult& result : supervise_jobs(jobs, supervision)) endings.push_back(result.ending());
  const std::string named = "was stopped after printing more than 64 MiB";
  CHECK(endings == std::vector<std::string>{"was stopped with the others", named, named, named});
}

TEST_CASE("a process that several jobs descend from counts once") {
  const std::vector<char> memory(64 << 20, 1);
  const std::vector<StartedJob> jobs = printers({1, 1, 1, 1, 1, 1, 1, 1});
  Supervision supervision;
  supervision.most_wall_seconds = 60;
  supervision.limits.run_seconds = 0.5;
  supervision.limits.total_memory_bytes = 3 * memory.size();
  CHECK(supervise_jobs(jobs, supervision).front().end == SandboxResult::End::kOutOfTime);
  CHECK(memory.back() == 1);
}

}  // namespace
}  // namespace lab::grading
