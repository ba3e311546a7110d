#include "common/launch/supervise/launch_options.h"

#include "common/launch/supervise/cores.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

using namespace lab;
using namespace lab::launch;
using lab::testing::contains;

namespace {

const VariableLookup kEmpty = [](const char*) { return std::optional<std::string>(); };

LaunchOptions make_options(std::vector<std::string> arguments, const VariableLookup& environment = kEmpty) {
  arguments.insert(arguments.begin(), "labrun");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  LaunchOptions options;
  const auto answered = read_launch_options(static_cast<int>(argv.size()), argv.data(), options, environment);
  CHECK_FALSE(answered);
  return options;
}

std::string options_refusal(const std::vector<std::string>& arguments) {
  return lab::testing::get_message<UsageError>([&] { make_options(arguments); });
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("torchrun's options in both spellings") {
  for (const char* nproc : {"--nproc-per-node", "--nproc_per_node"}) {
    const LaunchOptions options = make_options({"--nnodes", "2", nproc, "3", "--node_rank=1", "--master-addr", "node0",
                                                "--master_port", "1234", "--no_python", "prog", "--nnodes", "9", "-x"});
    CHECK(options.num_nodes == 2);
    CHECK(options.num_local_ranks == 3);
    CHECK(options.world_size() == 6);
    CHECK(options.first_rank() == 3);
    CHECK(options.master_addr == "node0");
    CHECK(options.master_port == 1234);
    CHECK(options.program == Strings{"prog", "--nnodes", "9", "-x"});
  }
}

TEST_CASE("the program's own arguments are not touched") {
  const Strings program = {"./prog", "--log_dir", "x", "--tee", "--", "-t", "--help"};
  Strings arguments = {"--standalone", "--nproc-per-node", "2"};
  arguments.insert(arguments.end(), program.begin(), program.end());
  CHECK(make_options(arguments).program == program);
  arguments.insert(arguments.begin() + 3, "--");
  CHECK(make_options(arguments).program == program);
}

TEST_CASE("defaults") {
  const LaunchOptions options = make_options({"prog"});
  CHECK(options.world_size() == 1);
  CHECK(options.master_addr == "127.0.0.1");
  CHECK(options.master_port == 0);
  CHECK(options.timeout_seconds == 0);
  CHECK(options.debug_rank == -1);
  CHECK(options.output.log_dir.empty());
  CHECK(make_options({"--nproc-per-node", "auto", "prog"}).num_local_ranks == usable_cores());
}

TEST_CASE("--tee with a number, with none, and last before the program") {
  const auto streams = [](const Strings& arguments) {
    const LaunchOptions options = make_options(arguments);
    CHECK(options.program == Strings{"prog", "3"});
    return (options.output.tee_stdout ? 1 : 0) + (options.output.tee_stderr ? 2 : 0);
  };
  CHECK(streams({"prog", "3"}) == 0);
  CHECK(streams({"--tee", "prog", "3"}) == 3);
  CHECK(streams({"--tee", "1", "prog", "3"}) == 1);
  CHECK(streams({"--tee=2", "prog", "3"}) == 2);
  CHECK(streams({"--log-dir", "d", "--tee", "--nproc-per-node", "2", "prog", "3"}) == 3);
  CHECK(streams({"--standalone", "--tee", "0", "prog", "3"}) == 0);
}

TEST_CASE("a rendezvous endpoint is the master's address") {
  const LaunchOptions options = make_options({"--nnodes=2", "--node-rank=0", "--rdzv-backend", "c10d",
                                              "--rdzv_endpoint", "node7:2222", "--rdzv_id", "9", "prog"});
  CHECK(options.master_addr == "node7");
  CHECK(options.master_port == 2222);
  CHECK(make_options({"--rdzv-endpoint", "node7", "prog"}).master_port == 29500);
}

TEST_CASE("an IPv6 address may be in brackets, as torchrun takes it") {
  for (const char* endpoint : {"[fd00::7]:2222", "fd00::7:2222"}) {
    const LaunchOptions options = make_options({"--rdzv-endpoint", endpoint, "prog"});
    CHECK(options.master_addr == "fd00::7");
    CHECK(options.master_port == 2222);
  }
  CHECK(make_options({"--rdzv-endpoint", "[::1]", "prog"}).master_addr == "::1");
  CHECK(make_options({"--rdzv-endpoint", "[::1]", "prog"}).master_port == 29500);
  CHECK(make_options({"--master-addr", "[::1]", "--master-port", "1", "prog"}).master_addr == "::1");
  CHECK(make_options({"--master-addr", "::1", "--master-port", "1", "prog"}).master_addr == "::1");
}

TEST_CASE("under srun each node knows its number") {
  const auto slurm = [](const char* name) {
    return name == std::string("SLURM_NODEID") ? std::optional<std::string>("2") : std::nullopt;
  };
  CHECK(make_options({"--nnodes", "4", "--rdzv-endpoint", "n:1", "prog"}, slurm).node_rank == 2);
  CHECK(make_options({"--nnodes", "1", "prog"}, slurm).node_rank == 0);
}

TEST_CASE("wrong command lines are refused in one message") {
  CHECK(contains(options_refusal({}), "expected a program"));
  CHECK(contains(options_refusal({"--nproc-per-node", "2"}), "expected a program"));
  CHECK(contains(options_refusal({"--nproc-per-nod", "2", "prog"}), "unknown option '--nproc-per-nod'"));
  CHECK(contains(options_refusal({"--nproc-per-node", "0", "prog"}), "--nproc-per-node: expected an integer from 1"));
  CHECK(contains(options_refusal({"--nproc-per-node", "two", "prog"}), "got 'two'"));
  CHECK(contains(options_refusal({"--nnodes", "1:4", "prog"}), "does not grow or shrink"));
  CHECK(contains(options_refusal({"--nnodes", "2", "--standalone", "prog"}), "--standalone"));
  CHECK(contains(options_refusal({"--nnodes", "2", "--master-addr", "n", "--master-port", "1", "prog"}),
                 "needs --node-rank"));
  CHECK(contains(options_refusal({"--nnodes", "2", "--node-rank", "0", "--master-addr", "n", "prog"}),
                 "needs --master-addr and --master-port"));
  CHECK(contains(options_refusal({"--nnodes", "2", "--node-rank", "2", "--rdzv-endpoint", "n:1", "prog"}),
                 "--node-rank: expected an integer from 0 to 1"));
  CHECK(contains(options_refusal({"--rdzv-endpoint", "n:x", "prog"}), "--rdzv-endpoint"));
  CHECK(contains(options_refusal({"--rdzv-endpoint", ":1", "prog"}), "expected HOST:PORT"));
  CHECK(contains(options_refusal({"--max-restarts", "3", "prog"}), "never restarts"));
  CHECK(contains(options_refusal({"--master-port", "70000", "prog"}), "--master-port"));
  CHECK(contains(options_refusal({"--tee", "4", "prog"}), "--tee"));
  CHECK(
      contains(options_refusal({"--debug-rank", "2", "--nproc-per-node", "2", "prog"}), "expected a rank from 0 to 1"));
}
