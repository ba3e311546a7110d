#include "common/checks/lab_main.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "common/base/files.h"
#include "common/base/lab_names.h"
#include "common/base/text.h"
#include "common/checks/case.h"
#include "common/checks/check_command.h"
#include "common/checks/expected_log_command.h"
#include "common/comm/rendezvous/fingerprint.h"
#include "common/comm/trace/trace_timeline.h"
#include "common/launch/debug_rank.h"
#include "common/launch/joined_world.h"
#include "common/launch/run_ranks.h"
#include "common/launch/supervise/rank_environment.h"
#include "common/log/sharing.h"
#include "common/plot/timeline_json.h"
#include "common/tensor/compute_threads.h"
#include "common/tensor/files/safetensors.h"
#include "common/tensor/gpus.h"
#include "common/tensor/no_vulkan.h"

namespace lab {
namespace {

using Clock = std::chrono::steady_clock;

/// Everything about one run that is the same on all ranks.
struct Run {
  const LabProgram& program;
  const cli::CommonOptions& options;
  launch::WorldSpec world;
  int num_gpus = 0;                       ///< that the ranks use
  std::shared_ptr<std::mutex> line_lock;  ///< threads share this process's output
  std::vector<LabStep> steps;
};

/// The steps of `LAB run NAME`: the cases of that name, without headings. So each line says which case it is of, also
/// where the handout's has no prefix.
std::vector<LabStep> steps_named(const LabProgram& program, const std::string& name) {
  std::vector<Case> cases = named_cases(program.cases(), name, "run");
  for (Case& test_case : cases) test_case.prefix = test_case.name;
  return {announcement(), checks({{"", cases}}), done()};
}

launch::WorldSpec choose_world(const cli::CommonOptions& options, int num_ranks) {
  launch::WorldSpec spec;
  spec.kind = options.world == "threads" ? launch::WorldKind::kThreads
              : options.world == "sim"   ? launch::WorldKind::kSim
                                         : launch::WorldKind::kProcesses;
  spec.transport = comm::transport_named(options.transport);
  spec.num_ranks = num_ranks;
  spec.timeout_seconds = options.timeout_seconds;
  spec.traced = !options.trace_file.empty() || !options.json_file.empty();
  spec.log_dir = options.log_dir;
  return spec;
}

void validate(const cli::CommonOptions& options) {
  if (options.device != "cpu" && options.world != "processes")
    throw UsageError(fmt::format(
        "--device {}: expected --world processes, got {}: ranks of one process share the GPU's allocator and "
        "its queue, and neither memory nor time would be a rank's own",
        options.device, options.world));
  if (!options.save_dir.empty()) make_folder("--save", options.save_dir);
  // Files that cannot be written are reported before the run, not after it.
  if (!options.trace_file.empty()) {
    comm::check_trace_name(options.trace_file);
    AtomicFile{options.trace_file};
  }
  if (!options.json_file.empty()) AtomicFile{options.json_file};
}

launch::RankBody make_body(const Run& run, const std::string& node, const std::function<int(int)>& find_local_rank) {
  return [&run, node, find_local_rank](Communicator& comm, launch::RankOutcome& outcome) {
    log::PrinterOptions printing;
    printing.quiet = run.options.quiet;
    printing.line_lock = run.line_lock;
    printing.remember = run.options.repeat == 1 || !run.options.json_file.empty();
    log::Printer printer(printing);
    TensorMap saved;
    const int local_rank = find_local_rank(comm.rank());
    const at::Device device = device_of_rank(run.num_gpus, local_rank);
    prepare_device(device);
    for (int turn = 0; turn < run.options.repeat; ++turn) {
      outcome.report.parts.clear();  // those of the last turn count
      RankRun rank_run{comm,       printer, run.options, run.program.calls,   node,
                       local_rank, device,  saved,       outcome.report.parts};
      for (const LabStep& step : run.steps) step.run(rank_run);
    }
    outcome.report.lines = printer.lines();
    outcome.exit_code = printer.exit_code();
    if (!run.options.save_dir.empty()) {
      save_safetensors(fmt::format("{}/rank{}.safetensors", run.options.save_dir, comm.rank()), saved,
                       {{"lab", run.program.name}});
    }
  };
}

void write_results(const Run& run, const launch::WorldOutcome& outcome, double wall_seconds) {
  std::vector<comm::TraceEvent> events;
  for (const launch::RankOutcome& rank : outcome.ranks)
    events.insert(events.end(), rank.trace.begin(), rank.trace.end());
  if (!run.options.trace_file.empty()) comm::write_trace(run.options.trace_file, events);
  if (!run.options.json_file.empty() || run.program.after) {
    log::RunReport report;
    report.program = run.program.name;
    report.version = cli::suite_version();
    report.world = run.options.world;
    report.num_ranks = run.world.num_ranks;
    report.seed = run.options.seed;
    report.exit_code = static_cast<ExitCode>(outcome.exit_code());
    report.error = outcome.failure ? outcome.failure->message : "";
    report.wall_seconds = wall_seconds;
    report.model_rates = rates_text(run.world.model_rates);
    for (const launch::RankOutcome& rank : outcome.ranks) report.ranks.push_back(rank.report);
    if (!run.options.json_file.empty()) {
      report.timeline = plot::to_json(comm::trace_timeline(events)).dump();
      write_file_atomically(run.options.json_file, to_json(report));
    }
    if (run.program.after) run.program.after(run.options, report);
  }
}

/// On stderr. If it takes nothing, guarded_main() notices, and an exit code other than 0 stays.
void say(const std::string& text) {
  std::fputs(text.c_str(), stderr);
}

/// Says on stderr how the ranks shared their work.
void print_sharing(const Run& run, const launch::WorldOutcome& outcome) {
  if (run.options.quiet || outcome.failure) return;
  std::vector<log::RankReport> ranks;
  for (const launch::RankOutcome& rank : outcome.ranks) ranks.push_back(rank.report);
  const std::vector<log::Sharing> parts = log::main_parts(log::describe_sharing(ranks));
  if (parts.empty()) return;
  std::string text = fmt::format("{}: in model time ({}):\n", run.program.name, rates_text(run.world.model_rates));
  std::size_t width = 0;
  for (const log::Sharing& part : parts) width = std::max(width, part.name.size());
  for (const log::Sharing& part : parts) text += fmt::format("  {:<{}}  {}\n", part.name, width, get_text(part));
  say(text);
}

/// Started without a launcher: this process starts the ranks.
int launch(Run& run) {
  const auto start = Clock::now();
  const launch::WorldOutcome outcome =
      launch::run_ranks(run.world, make_body(run, "N/A", [](int rank) { return rank; }));
  explain_failure(run.program.name, outcome);
  print_sharing(run, outcome);
  write_results(run, outcome, std::chrono::duration<double>(Clock::now() - start).count());
  return outcome.exit_code();
}

/// Started by a launcher: this process is one rank of the world.
int join(Run& run, const launch::RankEnvironment& environment) {
  const auto start = Clock::now();
  if (environment.rank == 0) {
    say(fmt::format("{}: rank 0 of {}, as told by {}\n", run.program.name, environment.size, environment.source));
  }
  const auto find_local_rank = [&](int) { return environment.local_rank; };
  const launch::WorldOutcome outcome =
      launch::join_world(environment, run.world, make_body(run, environment.node, find_local_rank));
  if (outcome.failure) {
    say(fmt::format("{}: error: rank {}: {}\n", run.program.name, environment.rank, outcome.failure->message));
  }
  if (environment.rank == 0) {
    print_sharing(run, outcome);
    write_results(run, outcome, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return outcome.exit_code();
}

/// What must be the same on all ranks that a launcher started. How long a rank waits, and where it writes its own
/// output, may differ.
std::string compute_fingerprint(const LabProgram& program, const cli::App& app, const std::string& only) {
  const std::set<std::string> own = {"--debug-rank", "--log-dir", "--nproc",           "--out", "--quiet", "--save",
                                     "--timeout",    "NAME",      program.ranks_option};
  comm::Fingerprint fingerprint = {{"program", program.name}, {"version", cli::suite_version()}, {"run", only}};
  for (const auto& [name, value] : app.values()) {
    if (own.count(name) == 0) fingerprint.emplace_back(name, value);
  }
  return comm::to_text(fingerprint);
}

/// `only`: what `LAB run NAME` names; empty: everything.
int run_lab(const cli::App& app, const LabProgram& program, cli::CommonOptions& options, int num_ranks_by_own_option,
            const std::string& only) {
  use_threads(1);  // there must be no thread pool before a fork; each rank sets its own number
  const std::vector<LabStep> named = only.empty() ? std::vector<LabStep>() : steps_named(program, only);
  const std::string ranks_option =
      program.ranks_option.empty() || !app.given(program.ranks_option) ? "--nproc" : program.ranks_option;
  if (ranks_option != "--nproc") {
    if (options.num_ranks_given && options.num_ranks != num_ranks_by_own_option) {
      throw UsageError(fmt::format("{} {} and --nproc {}: expected one number of ranks, got two; leave one out",
                                   ranks_option, num_ranks_by_own_option, options.num_ranks));
    }
    options.num_ranks = num_ranks_by_own_option;
    options.num_ranks_given = true;
  }

  // Stepping through a rank in a debugger keeps the others waiting.
  if (options.debug_rank >= 0 && !app.given("--timeout")) options.timeout_seconds = 24 * 3600;
  const auto environment = options.world == "processes" ? launch::rank_environment() : std::nullopt;
  if (environment && options.num_ranks_given && options.num_ranks != environment->size) {
    throw UsageError(fmt::format("{} {}: {} started {}; hint: leave {} out", ranks_option, options.num_ranks,
                                 environment->source, counted(environment->size, "rank"), ranks_option));
  }
  const int num_ranks = environment ? environment->size : options.num_ranks;
  validate(options);
  if (program.validate) program.validate(num_ranks);
  if (options.debug_rank >= 0 && !environment)
    launch::start_under_debugger(app.arguments(), num_ranks, options.debug_rank);

  if (program.prepare && only.empty()) program.prepare(options, num_ranks, environment ? environment->rank : 0);
  Run run{program,
          options,
          choose_world(options, num_ranks),
          gpus_for(options.device),
          nullptr,
          only.empty() ? program.steps() : named};
  run.world.fingerprint = compute_fingerprint(program, app, only);
  if (run.world.kind == launch::WorldKind::kThreads) run.line_lock = std::make_shared<std::mutex>();
  return environment ? join(run, *environment) : launch(run);
}

/// Gives the App a run's options, and the run as its action; `only` is filled in when it is parsed.
void add_run(cli::App& app, const LabProgram& program, const std::string& only) {
  cli::CommonOptions& options = app.add_common_options(program.defaults);
  int& num_ranks_by_own_option = app.own(program.defaults.num_ranks);
  if (!program.ranks_option.empty())
    app.add_integer(program.ranks_option, num_ranks_by_own_option, {1, 4096}, "Ranks to run, the same as --nproc");
  if (program.add_options) program.add_options(app);
  app.set_action([&] { return static_cast<ExitCode>(run_lab(app, program, options, num_ranks_by_own_option, only)); });
}

void expected_log_command(cli::App& app, const LabProgram& program) {
  const cli::CommonOptions& common = app.add_common_options(program.defaults);
  if (program.add_options) program.add_options(app);
  app.set_action([&] { return print_expected_log(app, program, common); });
}

void run_command(cli::App& app, const LabProgram& program) {
  std::string& only = app.own(std::string());
  app.add_argument("NAME", only, "a task, or one of its cases");
  add_run(app, program, only);
}

}  // namespace

void explain_failure(const std::string& program, const launch::WorldOutcome& outcome) {
  if (!outcome.failure) return;
  say(fmt::format("{}: error: {}\n", program, outcome.failure->message));
  for (const std::string& line : outcome.rank_lines) say(fmt::format("{}: {}\n", program, line));
  const launch::RankFailure& failure = *outcome.failure;
  if (failure.crashed_rank < 0) return;
  const std::size_t comma = failure.task.find(", ");  // "a4.single_step, SingleStep"
  const std::string check = comma == std::string::npos ? "" : failure.task.substr(comma + 2);
  say(fmt::format("{}: hint: {}\n", program,
                  launch::debugger_command(shorten_name(program), check, static_cast<int>(outcome.ranks.size()),
                                           failure.crashed_rank)));
}

void add_lab(cli::App& app, const LabProgram& program) {
  add_run(app, program, app.own(std::string()));
  const auto with_program = [&program](void (*set_up)(cli::App&, const LabProgram&)) {
    return [&program, set_up](cli::App& command) { set_up(command, program); };
  };
  if (program.cases) {
    app.add_commands({{"run", "runs the cases of one task, or one case", with_program(run_command)},
                      {"check", "checks a task, or all, and says what is wrong", with_program(check_command)}});
  }
  app.add_commands(
      {{"check-log",
        "compares a log with the lines of a right run\n"
        "The run is one on the same number of ranks, with default options otherwise.",
        with_program(check_log_command)},
       {"expected-log", "prints the lines of right runs, for check-log", with_program(expected_log_command)}});
  app.add_commands(program.commands);
}

int lab_main(int argc, char** argv, const LabProgram& program) {
  no_vulkan();
  const int exit_code = cli::guarded_main(argc, argv, [&](int count, char** arguments) {
    cli::App app(program.name, program.description);
    add_lab(app, program);
    return app.run(count, arguments);
  });
  // Where ranks were processes, Gloo's threads may still use memory that must stay alive (see ProcessWorld); and
  // LibTorch's destructors take a tenth of a second per process.
  std::fflush(nullptr);
  _exit(exit_code);
}

}  // namespace lab
