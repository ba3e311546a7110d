#include "grading/sandbox/job_clock.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/launch/supervise/run_directory.h"
#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

using Threads = std::map<pid_t, ThreadState>;
const auto near = [](double value) { return doctest::Approx(value).epsilon(1e-9); };

TEST_CASE("a thread that has the CPU that it wants is not starved") {
  JobClock clock;
  clock.look(0, {{7, {'R', 0}}});
  for (int i = 1; i <= 10; ++i) clock.look(0.2, {{7, {'R', 0.2 * i}}});
  CHECK(clock.own_seconds() == near(2));
  CHECK(clock.starved_seconds() == near(0));
}

TEST_CASE("time in which a thread wants a CPU and has none is not the job's own") {
  JobClock clock;
  clock.look(0, {{7, {'R', 0}}});
  for (int i = 1; i <= 10; ++i) clock.look(0.5, {{7, {'R', 0.1 * i}}, {8, {'S', 0}}});
  CHECK(clock.own_seconds() == near(1));
  CHECK(clock.starved_seconds() == near(4));
}

TEST_CASE("so is time in which it waits for a disk") {
  JobClock clock;
  clock.look(0, {{7, {'D', 0}}});
  clock.look(0.5, {{7, {'D', 0}}});
  CHECK(clock.starved_seconds() == near(0.5));
}

TEST_CASE("a job that sleeps could have gone on: that time is its own") {
  JobClock clock;
  for (int i = 0; i < 10; ++i) clock.look(0.5, {{7, {'S', 0.01}}, {8, {'S', 3}}});
  CHECK(clock.own_seconds() == near(5));
  // Being awake at one look does not make it starved.
  clock.look(0.5, {{7, {'R', 0.01}}, {8, {'S', 3}}});
  clock.look(0.5, {{7, {'S', 0.01}}, {8, {'S', 3}}});
  CHECK(clock.own_seconds() == near(6));
}

TEST_CASE("a job is starved as long as its worst thread") {
  JobClock clock;
  clock.look(0, {{7, {'R', 0}}, {8, {'R', 0}}});
  clock.look(1, {{7, {'R', 0.9}}, {8, {'R', 0.25}}});
  CHECK(clock.own_seconds() == near(0.25));
}

TEST_CASE("a new thread that wants a CPU counts for half of the time: it began somewhere in between") {
  JobClock clock;
  clock.look(0.5, {{7, {'R', 0.1}}});
  CHECK(clock.starved_seconds() == near(0.2));
  clock.look(0.5, {{8, {'S', 0}}});
  CHECK(clock.starved_seconds() == near(0.2));
}

TEST_CASE("where the judge itself was kept from looking, the time between is not blamed on the job") {
  JobClock clock;
  clock.look(0, {{7, {'S', 0}}});
  clock.look(60, {{7, {'S', 0}}});
  CHECK(clock.own_seconds() == near(JobClock::kLongestLook));
  CHECK(clock.starved_seconds() == near(60 - JobClock::kLongestLook));
}

/// A folder like /proc, with processes of one thread each.
class FakeProc {
 public:
  void add(pid_t pid, pid_t parent, char state, int ticks) const {
    const std::string folder = folder_.path() + "/" + std::to_string(pid);
    std::filesystem::create_directories(folder + "/task/" + std::to_string(pid));
    for (const std::string& file : {folder + "/stat", folder + "/task/" + std::to_string(pid) + "/stat"})
      std::ofstream(file) << pid << " (a) name) " << state << ' ' << parent << " 1 1 0 -1 0 0 0 0 0 " << ticks
                          << " 1 0 0\n";
  }
  std::string path() const { return folder_.path(); }

 private:
  launch::RunDirectory folder_;
};

TEST_CASE("the threads of a job are those of its process and of all below it, and no others") {
  const FakeProc proc;
  proc.add(10, 1, 'S', 4);
  proc.add(11, 10, 'R', 9);
  proc.add(12, 11, 'D', 0);
  proc.add(13, 1, 'R', 5);
  const Threads threads = tree_below(10, proc.path()).threads;
  CHECK(threads.size() == 3);
  CHECK(threads.count(13) == 0);
  CHECK(threads.at(11).state == 'R');
  CHECK(threads.at(11).cpu_seconds == near(10.0 / static_cast<double>(::sysconf(_SC_CLK_TCK))));
  CHECK(tree_below(99, proc.path()).threads.empty());
  const std::vector<JobTree> trees = trees_below({13, 99, 11}, proc.path());
  REQUIRE(trees.size() == 3);
  CHECK(trees[0].threads.count(13) == 1);
  CHECK(trees[1].threads.empty());
  CHECK(trees[2].threads.size() == 2);
}

TEST_CASE("this process is seen in /proc") {
  const Threads threads = tree_below(::getpid()).threads;
  REQUIRE(threads.count(::getpid()) == 1);
  CHECK(threads.at(::getpid()).state == 'R');
}

}  // namespace
}  // namespace lab::grading
