#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <functional>
#include <regex>
#include <string>
#include <vector>

#include "common/api/errors.h"
#include "common/base/random_token.h"
#include "common/base/subprocess.h"
#include "common/comm/process_world.h"
#include "common/testing/processes.h"
#include "common/testing/test.h"

namespace lab::comm {
namespace {

/// 0 if the call fails because a rank, no matter which, timed out inside the collective.
int times_out(ProcessWorld& world, const std::string& name, const std::function<void()>& call) {
  try {
    call();
  } catch (const CommError& error) {
    world.transport()->fail(ExitCode::kCommunication, error.what());
    if (std::regex_search(error.what(), std::regex("timed out after 0.5 s: rank [013] is inside " + name))) return 0;
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 1;
}

TEST_CASE(
    "gloo collectives: without a launcher's help, too, ranks that wait for a stopped one say that they timed out") {
  const at::Tensor value = at::zeros({1000});
  using Call = std::function<void(CollectiveBackend&, const Group&)>;
  const std::vector<std::pair<std::string, Call>> collectives = {
      {"all_reduce", [&](CollectiveBackend& backend, const Group& group) { backend.all_reduce(value, group); }},
      {"barrier", [&](CollectiveBackend& backend, const Group& group) { backend.barrier(group); }}};
  for (const auto& collective : collectives) {
    const std::string& name = collective.first;
    const Call& call = collective.second;
    CAPTURE(name);
    const std::string socket = unnamed_socket();
    std::vector<pid_t> ranks;
    for (int rank = 0; rank < 4; ++rank) {
      ranks.push_back(fork_process([&, rank] {
        ProcessWorldOptions options;
        options.rank = rank;
        options.size = 4;
        options.timeout_seconds = 0.5;
        options.rendezvous.socket_path = socket;
        const auto world = ProcessWorld::join(options);
        if (rank == 2) {
          while (true) pause();
        }
        return times_out(*world, name, [&] { call(*world->collectives(), whole_world(rank, 4)); });
      }));
    }
    for (const int rank : {0, 1, 3}) {
      CAPTURE(rank);
      CHECK(choose_exit_code(ranks[static_cast<std::size_t>(rank)]) == 0);
    }
    kill(ranks[2], SIGKILL);
    choose_exit_code(ranks[2]);
  }
}

}  // namespace
}  // namespace lab::comm
