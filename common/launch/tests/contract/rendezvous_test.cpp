#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <thread>

#include "common/base/subprocess.h"
#include "common/launch/joined_world.h"
#include "common/launch/supervise/free_port.h"
#include "common/launch/supervise/run_directory.h"
#include "common/testing/processes.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// Rendezvous of ranks started by a launcher, with real processes.
namespace lab::launch {
namespace {

constexpr double kTimeout = 10;

/// The processes of one launch; each writes its failure message to a file.
class Launch {
 public:
  explicit Launch(int size, double timeout_seconds = kTimeout) : port_(free_port()) {
    spec_.kind = WorldKind::kProcesses;
    spec_.num_ranks = size;
    spec_.timeout_seconds = timeout_seconds;
    spec_.fingerprint = "--seed: 42\n";
  }
  ~Launch() {
    for (const pid_t pid : pids_) {
      if (pid > 0 && kill(pid, SIGKILL) == 0) choose_exit_code(pid);
    }
  }

  RankEnvironment environment(int rank) const {
    RankEnvironment environment;
    environment.rank = environment.local_rank = rank;
    environment.size = environment.local_size = spec_.num_ranks;
    environment.master_addr = "127.0.0.1";
    environment.master_port = port_;
    return environment;
  }

  void start(const RankEnvironment& environment, const WorldSpec& spec, const std::function<void(Communicator&)>& body,
             int free_descriptors = 0) {
    const std::string file = message_file(static_cast<int>(pids_.size()));
    pids_.push_back(fork_process([=] {
      const auto max = static_cast<rlim_t>(num_open_descriptors() + free_descriptors);
      const rlimit limit = {max, max};
      if (free_descriptors > 0 && setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
      const WorldOutcome outcome = join_world(environment, spec, [&](Communicator& comm, RankOutcome&) { body(comm); });
      if (outcome.failure) std::ofstream(file) << outcome.failure->message << "\n";
      return outcome.exit_code();
    }));
  }
  void start_all(const std::function<void(Communicator&)>& body) {
    for (int rank = 0; rank < spec_.num_ranks; ++rank) start(environment(rank), spec_, body);
  }

  const WorldSpec& spec() const { return spec_; }
  pid_t pid(int index) const { return pids_[static_cast<std::size_t>(index)]; }
  int exit_code(int index) {
    const pid_t pid = std::exchange(pids_[static_cast<std::size_t>(index)], 0);
    return choose_exit_code(pid);
  }
  std::string message(int index) const {
    std::ostringstream text;
    text << std::ifstream(message_file(index)).rdbuf();
    return text.str();
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

 private:
  static int num_open_descriptors() {
    const std::filesystem::directory_iterator open("/proc/self/fd");
    return static_cast<int>(std::distance(begin(open), end(open))) - 1;
  }
  std::string message_file(int index) const { return path("message" + std::to_string(index)); }

  RunDirectory folder_;
  int port_;
  WorldSpec spec_;
  std::vector<pid_t> pids_;
};

/// All ranks add up 1; then the odd ones do, over connections made only then.
void add_up(Communicator& comm) {
  at::Tensor one = at::ones({3});
  comm.collectives().all_reduce(one);
  if (!at::equal(one, at::full({3}, comm.size()))) throw std::runtime_error("a wrong sum");
  std::vector<int> odd;
  for (int rank = 1; rank < comm.size(); rank += 2) odd.push_back(rank);
  if (comm.rank() % 2 == 0) return;
  Communicator group = comm.subgroup(odd);
  at::Tensor value = at::full({1}, comm.rank());
  group.collectives().all_reduce(value);
  if (value.item<int>() != std::accumulate(odd.begin(), odd.end(), 0)) throw std::runtime_error("a wrong sum");
}

TEST_CASE("rendezvous: ranks meet over a port, or at a socket that is gone once they have, and groups connect later") {
  for (const bool at_socket : {false, true}) {
    for (const int size : {2, 5}) {
      CAPTURE(size);
      Launch launch(size);
      const std::string socket = launch.path("rendezvous");
      for (int rank = 0; rank < size; ++rank) {
        RankEnvironment environment = launch.environment(rank);
        if (at_socket) environment.rendezvous_socket = socket;
        launch.start(environment, launch.spec(), [socket](Communicator& comm) {
          if (std::filesystem::exists(socket)) throw std::runtime_error("the socket is still there");
          add_up(comm);
        });
      }
      for (int rank = 0; rank < size; ++rank) {
        CHECK(launch.exit_code(rank) == 0);
        CHECK(launch.message(rank) == "");
      }
    }
  }
}

TEST_CASE("rendezvous: a rank that is alone runs at once and needs no address") {
  Launch launch(1, 0.001);
  RankEnvironment environment = launch.environment(0);
  environment.master_addr.clear();
  environment.master_port = 0;
  launch.start(environment, launch.spec(), add_up);
  CHECK(launch.exit_code(0) == 0);
  CHECK(launch.message(0).empty());
}

TEST_CASE("rendezvous: rank 0 killed at any moment of it ends every other rank with code 5 and one message") {
  std::mt19937 random(3);
  for (int round = 0; round < 6; ++round) {
    Launch launch(3, 1);
    launch.start_all([](Communicator& comm) {
      if (comm.rank() == 0) pause();
      comm.point_to_point().recv(at::zeros({1}), 0);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 50));
    kill(launch.pid(0), SIGKILL);
    CHECK(launch.exit_code(0) == 128 + SIGKILL);
    for (const int rank : {1, 2}) {
      CHECK(launch.exit_code(rank) == static_cast<int>(ExitCode::kCommunication));
      const std::string message = launch.message(rank);
      CAPTURE(message);
      CHECK(std::count(message.begin(), message.end(), '\n') == 1);
      CHECK(contains(message, "rank 0"));
    }
  }
}

TEST_CASE("rendezvous: a rank that was started differently is a wrong use, told on every rank with what differs") {
  Launch launch(3);
  for (int rank = 0; rank < 3; ++rank) {
    WorldSpec spec = launch.spec();
    if (rank == 2) spec.fingerprint = "--seed: 7\n";
    launch.start(launch.environment(rank), spec, add_up);
  }
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(launch.exit_code(rank) == static_cast<int>(ExitCode::kUsage));
    CHECK(contains(launch.message(rank), "--seed: expected 42 as on rank 0, got 7 on rank 2"));
  }
}

TEST_CASE("rendezvous: a second process with a rank is refused by name, and the run goes on without it") {
  Launch launch(2);
  launch.start(launch.environment(1), launch.spec(), add_up);
  launch.start(launch.environment(1), launch.spec(), add_up);
  launch.start(launch.environment(0), launch.spec(), add_up);
  CHECK(launch.exit_code(2) == 0);
  const int first = launch.exit_code(0), second = launch.exit_code(1);
  CHECK(first + second == static_cast<int>(ExitCode::kUsage));  // one of them is 0
  CHECK(contains(launch.message(first == 0 ? 1 : 0), "rank 1 has already arrived: expected one process"));
}

TEST_CASE("rendezvous: too few descriptors are called that, and the other ranks hear of it from rank 0") {
  bool was_refused = false, was_enough = false;
  for (const int num_free : {3, 5, 7, 9, 40}) {
    CAPTURE(num_free);
    Launch launch(4);
    for (int rank = 0; rank < 4; ++rank)
      launch.start(
          launch.environment(rank), launch.spec(), [](Communicator&) {}, rank == 3 ? num_free : 0);
    const int code = launch.exit_code(3);
    CHECK((code == 0 || code == static_cast<int>(ExitCode::kUsage)));
    if (code != 0) CHECK(contains(launch.message(3), "ulimit -n"));
    for (int rank = 0; rank < 3; ++rank) {
      CHECK(launch.exit_code(rank) == (code == 0 ? 0 : static_cast<int>(ExitCode::kCommunication)));
      if (code != 0) CHECK(contains(launch.message(rank), "rank 3 failed: too few file descriptors"));
    }
    (code == 0 ? was_enough : was_refused) = true;
  }
  CHECK(was_refused);
  CHECK(was_enough);
  Launch launch(2, 0.2);
  launch.start(
      launch.environment(0), launch.spec(), [](Communicator&) {}, 4);
  CHECK(launch.exit_code(0) == static_cast<int>(ExitCode::kUsage));
  CHECK(contains(launch.message(0), "ulimit -n"));
}

}  // namespace
}  // namespace lab::launch
