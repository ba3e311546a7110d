#include "common/launch/supervise/launch_options.h"

#include <fmt/format.h>

#include "common/base/option_value.h"
#include "common/cli/app.h"
#include "common/launch/supervise/cores.h"

namespace lab::launch {
namespace {

constexpr int kMaxRanks = 4096;
constexpr int kTorchrunPort = 29500;

// The options as given on the command line; torchrun's defaults.
struct GivenOptions {
  std::string num_nodes = "1";
  std::string num_local_ranks = "1";
  std::string node_rank;
  std::string master_addr;
  std::string rdzv_endpoint;
  std::string ignored;
  std::string tee;
  int master_port = 0;
  int max_restarts = 0;
  bool standalone = false;
  bool no_python = false;
};

// torchrun's --tee takes a number (1 stdout, 2 stderr, 3 both). Here it may be omitted, meaning both.
std::vector<const char*> with_tee_spelled_out(int argc, char** argv) {
  std::vector<const char*> arguments(argv, argv + argc);
  for (std::size_t i = 1; i < arguments.size() && arguments[i][0] == '-'; ++i) {
    const std::string argument = arguments[i];
    if (argument != "--tee" && argument != "-t") {
      const bool has_value = argument.find('=') == std::string::npos && argument != "--standalone" &&
                             argument != "--no-python" && argument != "--no_python" && argument != "--help" &&
                             argument != "-h" && argument != "--version";
      if (argument == "--") break;
      if (has_value) ++i;
      continue;
    }
    const bool has_number = i + 1 < arguments.size() && option::integer<int>(arguments[i + 1]);
    if (!has_number) arguments[i] = "--tee=3";
    if (has_number) ++i;
  }
  return arguments;
}

int number(const char* option, const std::string& text, int min, int max, const char* example) {
  const std::optional<int> value = option::integer<int>(text);
  if (!value || *value < min || *value > max) {
    option::throw_wrong_value(option, {option::integer_expected(std::to_string(min), std::to_string(max)), example},
                              option::quoted(text));
  }
  return *value;
}

int local_ranks(const std::string& text) {
  if (text == "auto" || text == "cpu") return usable_cores();
  return number("--nproc-per-node", text, 1, kMaxRanks, "4");
}

int node_count(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return number("--nnodes", text, 1, kMaxRanks, "4");
  if (text.substr(0, colon) != text.substr(colon + 1)) {
    throw UsageError(
        fmt::format("--nnodes {}: labrun does not grow or shrink a run; expected one number of nodes", text));
  }
  return number("--nnodes", text.substr(0, colon), 1, kMaxRanks, "4");
}

/// "HOST:PORT" or "HOST"; as torchrun's, an IPv6 address may be in brackets, and without a port it must be.
void read_endpoint(const std::string& endpoint, LaunchOptions& options) {
  const std::size_t colon = endpoint.back() == ']' ? std::string::npos : endpoint.rfind(':');
  options.master_addr = without_brackets(endpoint.substr(0, colon));
  if (options.master_addr.empty())
    throw UsageError(fmt::format("--rdzv-endpoint: expected HOST:PORT, got '{}'", endpoint));
  options.master_port = colon == std::string::npos
                            ? kTorchrunPort
                            : number("--rdzv-endpoint", endpoint.substr(colon + 1), 1, 65535, "node1:29500");
}

void read_tee(const std::string& text, RankOutputOptions& output) {
  if (text.empty()) return;
  const int streams = number("--tee", text, 0, 3, "3");
  output.tee_stdout = (streams & 1) != 0;
  output.tee_stderr = (streams & 2) != 0;
}

void check(const GivenOptions& given, LaunchOptions& options, const VariableLookup& environment) {
  options.num_nodes = node_count(given.num_nodes);
  options.num_local_ranks = local_ranks(given.num_local_ranks);
  read_tee(given.tee, options.output);
  if (given.standalone && options.num_nodes > 1)
    throw UsageError("--standalone runs on one machine: it cannot be combined with --nnodes above 1");
  if (given.max_restarts > 0) throw UsageError("--max-restarts: labrun never restarts a run; expected 0");
  const bool many_nodes = options.num_nodes > 1;
  const std::string node_rank = !given.node_rank.empty() ? given.node_rank
                                : many_nodes             ? environment("SLURM_NODEID").value_or("")
                                                         : "0";
  if (node_rank.empty())
    throw UsageError(fmt::format("--nnodes {} needs --node-rank: this machine's number, from 0", options.num_nodes));
  options.node_rank = number("--node-rank", node_rank, 0, options.num_nodes - 1, "0");
  if (!given.rdzv_endpoint.empty()) read_endpoint(given.rdzv_endpoint, options);
  if (!given.master_addr.empty()) options.master_addr = without_brackets(given.master_addr);
  if (given.master_port > 0) options.master_port = given.master_port;
  if (many_nodes && given.rdzv_endpoint.empty() && (given.master_addr.empty() || given.master_port == 0)) {
    throw UsageError(
        fmt::format("--nnodes {} needs --master-addr and --master-port: the machine of rank 0, and a free port there",
                    options.num_nodes));
  }
  if (options.world_size() > kMaxRanks)
    throw UsageError(fmt::format("{} ranks: expected at most {}", options.world_size(), kMaxRanks));
  if (options.debug_rank >= options.world_size()) {
    throw UsageError(
        fmt::format("--debug-rank {}: expected a rank from 0 to {}", options.debug_rank, options.world_size() - 1));
  }
}

}  // namespace

std::optional<ExitCode> read_launch_options(int argc, char** argv, LaunchOptions& options,
                                            const VariableLookup& environment) {
  GivenOptions given;
  cli::App app("labrun", "Starts a program on many ranks, with torchrun's options, and watches them.");
  app.add_text("--nnodes", given.num_nodes, "N", "machines that take part; labrun is started on each");
  app.add_text("--nproc-per-node", given.num_local_ranks, "N", "ranks on this machine; auto: one per core");
  app.add_text("--node-rank", given.node_rank, "N",
               "this machine's number, from 0 (default with --nnodes 1, else SLURM_NODEID)");
  app.add_text("--master-addr", given.master_addr, "HOST", "machine of rank 0; only for --nnodes above 1");
  app.add_integer("--master-port", given.master_port, {1, 65535}, "a free port there");
  app.add_flag("--standalone", given.standalone, "one machine, no port needed");
  app.add_text("--log-dir", options.output.log_dir, "DIR",
               "each rank's output into DIR/rank<r>.log and DIR/rank<r>.err");
  app.add_text("--tee", given.tee, "N",
               "also, or only, to the terminal in whole lines: 1 stdout, 2 stderr, 3 (or no number) both");
  app.add_flag("--no-python", given.no_python, "accepted for compatibility with torchrun; has no effect");
  app.add_text("--rdzv-backend", given.ignored, "NAME", "accepted for compatibility with torchrun");
  app.add_text("--rdzv-endpoint", given.rdzv_endpoint, "HOST:PORT",
               "the same as --master-addr HOST --master-port PORT");
  app.add_text("--rdzv-id", options.job_id, "ID",
               "with --nnodes above 1: this run's name, the same on each machine; keeps other runs' ranks out");
  app.add_integer("--max-restarts", given.max_restarts, {0, 1000}, "accepted for compatibility with torchrun; only 0");
  app.add_number("--timeout", options.timeout_seconds, {0, 1e9}, "stop the run after this many seconds");
  app.add_integer("--debug-rank", options.debug_rank, {0, kMaxRanks - 1}, "start this rank under gdb");
  app.add_program(
      options.program,
      "The program and its arguments follow the options: labrun --nproc-per-node 4 build/bin/a4_data_tensor --seed 1");
  const std::vector<const char*> arguments = with_tee_spelled_out(argc, argv);
  if (auto answered = app.parse(static_cast<int>(arguments.size()), arguments.data())) return answered;
  if (options.program.empty())
    throw UsageError("expected a program to start, got none; try labrun --nproc-per-node 4 PROGRAM");
  if (options.program.front()[0] == '-') {
    throw UsageError(
        fmt::format("unknown option {}; --help lists all options", option::quoted(options.program.front())));
  }
  check(given, options, environment);
  return std::nullopt;
}

}  // namespace lab::launch
