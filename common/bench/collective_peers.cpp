#include "common/bench/collective_peers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>

#include "common/api/errors.h"
#include "common/bench/bench_blocks.h"
#include "common/bench/twin.h"
#include "common/launch/supervise/run_directory.h"

namespace lab {
namespace {

/// glibc's variables with which a peer keeps the memory that it frees, as our ranks do (keep_freed_memory()). Without
/// them each large tensor is made of new pages, and the peer would be measured by what those cost.
std::map<std::string, std::string> peer_memory() {
  return {{"MALLOC_MMAP_MAX_", "0"}, {"MALLOC_TRIM_THRESHOLD_", "2147483647"}};
}

/// In the folder of this program.
std::string mpi_program() {
  return std::filesystem::path(own_program()).replace_filename("bench_mpi").string();
}

/// One of the ways in which Open MPI's ranks talk to each other.
PeerLibrary mpi_peer(const std::string& name, const std::vector<std::string>& options) {
  const auto programs = [name, options](int num_ranks, const std::string& folder) {
    ProcessSpec mpirun;
    mpirun.environment = peer_memory();
    // A folder of its own: one of two mpiruns that make the one of their user at the same time fails.
    std::string own_folder = fmt::format("{}/{}", folder, name);
    std::replace(own_folder.begin(), own_folder.end(), ' ', '_');
    std::filesystem::create_directories(own_folder);
    mpirun.environment["TMPDIR"] = own_folder;
    mpirun.argv = {"mpirun", "--oversubscribe", "--bind-to", "none", "--stdin", "none"};  // they bind themselves
    if (::geteuid() == 0) mpirun.argv.emplace_back("--allow-run-as-root");
    mpirun.argv.insert(mpirun.argv.end(), options.begin(), options.end());
    for (const std::string& argument : {std::string("-n"), fmt::format("{}", num_ranks), mpi_program(),
                                        std::string("--folder"), folder, std::string("--name"), name}) {
      mpirun.argv.push_back(argument);
    }
    return std::vector<ProcessSpec>{mpirun};
  };
  return {name, programs};
}

std::vector<PeerLibrary> mpi_peers() {
  // pml ob1: without it another layer may bypass the btl. So do the sm collectives.
  return {mpi_peer("mpi tcp", {"--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo",
                               "--mca", "coll", "^sm"}),
          mpi_peer("mpi shared memory", {"--mca", "pml", "ob1", "--mca", "btl", "vader,self"})};
}

PeerLibrary python_peer() {
  const auto programs = [](int num_ranks, const std::string& folder) {
    std::vector<ProcessSpec> all;
    for (int rank = 0; rank < num_ranks; ++rank) {
      ProcessSpec& one = all.emplace_back();
      one.environment = peer_memory();
      one.argv = {"/usr/bin/python3", LAB_PYTHON_HANDOUT,      folder,
                  "python",           fmt::format("{}", rank), fmt::format("{}", num_ranks)};
    }
    return all;
  };
  return {"python", programs};
}

constexpr double kTrialSeconds = 60;
constexpr int kMostPythonRanks = 8;  // each loads PyTorch: 150 MB

/// Why this peer does not work here, or nothing; sets the library's name.
std::string find_problem(const PeerLibrary& peer, int num_ranks, std::string& library) {
  const launch::RunDirectory directory;
  std::vector<Twin> twins;
  for (int rank = 0; rank < num_ranks; ++rank) twins.emplace_back(directory.path(), peer.name, rank);
  std::vector<std::unique_ptr<Subprocess>> programs;
  for (const ProcessSpec& program : peer.programs(num_ranks, directory.path()))
    programs.push_back(std::make_unique<Subprocess>(program));

  const auto start = std::chrono::steady_clock::now();
  const auto is_late = [&] {
    return std::chrono::steady_clock::now() - start > std::chrono::duration<double>(kTrialSeconds);
  };
  // The trial waits for the first answer, for the end of a program or for the limit, whichever comes first.
  while (!twins.front().has_come(0.1) && !programs.front()->wait_for(0) && !is_late()) continue;
  bool answer = twins.front().has_come(0);
  std::int64_t wrong = 0;
  if (answer) {
    // Large enough for a copy from process to process.
    for (Twin& twin : twins) twin.ask({"allreduce", whole_bytes(256 << 10, num_ranks), 0}, kTrialSeconds);
    for (Twin& twin : twins) {
      const std::optional<TwinAnswer> said = twin.answer();
      answer = answer && said;
      if (said) wrong = said->wrong;
    }
    library = twins.front().library();
  }
  twins.clear();  // which ends the peer's ranks

  ProgramEnd end;
  end.max_seconds = kTrialSeconds;
  for (const std::unique_ptr<Subprocess>& program : programs) {
    end.timed_out = !program->wait_for(10);
    end.status = program->status();
    end.out = program->out();
    end.err = std::regex_replace(program->err(), std::regex("-{10,}"), "");  // mpirun frames its messages
    if (!end.well()) break;
  }
  if (answer && end.well()) return wrong == 0 ? "" : "its all-reduce is wrong";
  return fmt::format("{} {}", peer.programs(num_ranks, directory.path()).front().argv.front(), end.message());
}

}  // namespace

UsablePeers usable_peers(int num_ranks, bool no_mpi, bool no_python) {
  UsablePeers usable;
  const auto try_peer = [&](const PeerLibrary& peer, const char* hint) {
    std::string library, problem;
    try {
      problem = find_problem(peer, num_ranks, library);
    } catch (const UsageError& error) {
      problem = error.what();
    }
    if (problem.empty()) {
      usable.peers.push_back(peer);
      usable.lines.push_back(fmt::format("peer {}: {}", peer.name, library));
    } else {
      usable.lines.push_back(fmt::format("peer {} is left out: {}; hint: {}", peer.name, problem, hint));
    }
  };
  const char* const mpi_hint = "apt-get install libopenmpi-dev openmpi-bin, then build again";
  if (no_mpi) {
    usable.lines.emplace_back("peer MPI is left out: --no-mpi");
  } else if (!std::filesystem::exists(mpi_program())) {
    usable.lines.push_back(fmt::format("peer MPI is left out: {} was not built; hint: {}", mpi_program(), mpi_hint));
  } else {
    for (const PeerLibrary& peer : mpi_peers()) try_peer(peer, mpi_hint);
  }
  if (no_python) {
    usable.lines.emplace_back("peer Python is left out: --no-python");
  } else if (num_ranks > kMostPythonRanks) {
    usable.lines.push_back(fmt::format("peer Python is left out: more than {} ranks", kMostPythonRanks));
  } else {
    try_peer(python_peer(), "apt-get install python3-torch");
  }
  return usable;
}

}  // namespace lab
