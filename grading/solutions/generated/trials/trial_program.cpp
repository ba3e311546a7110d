#include "grading/solutions/generated/trials/trial_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <iterator>
#include <list>
#include <thread>

#include "common/base/files.h"
#include "common/base/subprocess.h"
#include "common/base/text.h"
#include "common/checks/case.h"
#include "common/checks/check_run.h"
#include "common/launch/one_rank.h"
#include "common/launch/supervise/memory_file.h"
#include "common/rank/start/warm_up.h"
#include "common/tensor/compute_threads.h"
#include "grading/sandbox/job_clock.h"
#include "grading/solutions/generated/trials/chosen_mutant.h"
#include "grading/solutions/generated/trials/orders.h"

namespace lab::grading::generated {
namespace {

// By the clock: a trial that comes to nothing is ended by who started it.
constexpr double kTimeoutSeconds = 600;

/// FNV-1a, continued.
std::uint64_t hashed(std::uint64_t hash, const void* bytes, std::size_t size) {
  const auto* each = static_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ each[i]) * 1099511628211u;
  return hash;
}

std::string read_bits(const TensorMap& results) {
  std::uint64_t hash = 14695981039346656037u;
  for (const auto& [name, tensor] : results) {
    hash = hashed(hash, name.data(), name.size());
    if (!tensor.defined()) continue;
    const at::Tensor flat = tensor.detach().contiguous();
    const std::string form = fmt::format("{} {}", static_cast<int>(flat.scalar_type()), fmt::join(flat.sizes(), " "));
    hash = hashed(hash, form.data(), form.size());
    hash = hashed(hash, flat.data_ptr(), flat.nbytes());
  }
  return fmt::format("{:016x}", hash);
}

std::string get_text(const std::vector<LedgerEntry>& spent) {
  std::string text;
  for (const LedgerEntry& entry : spent)
    text += fmt::format("{} {} {} {} {} {} to {} from {};", entry.operation, entry.calls, entry.messages,
                        entry.bytes_sent, entry.bytes_received, entry.rounds,
                        fmt::join(entry.destinations.ranks(), ","), fmt::join(entry.sources.ranks(), ","));
  return text;
}

std::map<std::string, std::string> compute_fingerprint(const RecordedWorld& world, const Case& test_case) {
  std::map<std::string, std::string> print;
  for (int rank = 0; rank < static_cast<int>(world.by_rank.size()); ++rank) {
    const CaseRecord* record = world.find(rank, test_case);
    const std::string separator = rank == 0 ? "" : " ";
    if (record == nullptr) {
      print["results"] += separator + "none";
      continue;
    }
    print["results"] += separator + read_bits(record->results) + (record->message.empty() ? "" : " " + record->message);
    print["messages"] += separator + get_text(record->spent);
    print["work"] += fmt::format("{}{}", separator, record->used.flops);
    print["memory"] += fmt::format("{}{}", separator, record->used.memory.peak_bytes);
    print["time"] += fmt::format("{}{}", separator, record->used.model_time.total);
  }
  if (world.failure) print["results"] += " and " + world.failure->message;
  return print;
}

/// Performs one case on ranks that are threads of this process, and judges it as `lab check` does.
OrdersReport performed(const Case& test_case, const TrialRun& place, const CallTable& calls) {
  const auto start = std::chrono::steady_clock::now();
  launch::WorldSpec spec;
  spec.kind = launch::WorldKind::kThreads;
  spec.num_ranks = place.num_ranks;
  spec.timeout_seconds = kTimeoutSeconds;
  RecordedWorld world;
  const CaseVerdict checked =
      check_apart({test_case}, place.num_ranks, place.seed, [&](const std::vector<Case>& cases) {
        world = record_cases(cases, calls, spec, place.seed);
        return world;
      }).front();
  OrdersReport report;
  report.skipped = checked.skipped();
  report.right = checked.passed();
  if (!report.right && !report.skipped) {
    report.how = !checked.failure.empty() ? "failed" : checked.too_expensive() ? "costly" : "wrong";
    report.why = one_line(checked.failure.empty() ? checked.reason : checked.failure).substr(0, 300);
    report.symptom = checked.symptom.id;
  }
  report.fingerprint = compute_fingerprint(world, test_case);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenLooks{2};
constexpr double kLookSeconds = 0.2;  // /proc counts in hundredths
// A run may take so much longer than the reference's before its trial is ended as stuck; of time in which it could run.
constexpr double kLeastPatience = 3, kMostSlower = 20;
constexpr rlim_t kMostMemory = rlim_t{5} << 30;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Work {
  const TrialOrder& order;
  const std::vector<Case>& cases;
  const CallTable& calls;
};

/// In the child: performs the runs, and writes a line for each.
int perform(const Work& work, const Trial& trial, int results) {
  const rlimit memory = {kMostMemory, kMostMemory}, none = {0, 0};
  // LibTorch makes its pool anew at its first use after a fork, which must not be by several ranks at once.
  use_threads(1);
  ::setrlimit(RLIMIT_DATA, &memory);
  ::setrlimit(RLIMIT_CORE, &none);
  choose_mutant(trial.id);
  for (const int run : trial.runs) {
    const TrialRun& place = work.order.runs[static_cast<std::size_t>(run)];
    if (work.order.notes_places) note_places(work.order.num_mutants);
    OrdersReport report = performed(work.cases[static_cast<std::size_t>(place.case_index)], place, work.calls);
    report.run = run;
    if (work.order.notes_places) report.places = noted_places();
    const auto expected = work.order.expected.find(run);
    const bool differs = expected != work.order.expected.end() && expected->second != report.fingerprint;
    const bool wrong = !report.right && !report.skipped;
    const bool ends = (trial.until == Trial::Until::kWrong && wrong) ||
                      (trial.until == Trial::Until::kSymptom && wrong && report.symptom == trial.symptom) ||
                      (trial.until == Trial::Until::kDiffers && differs);
    write_fully(results, json_text(report) + "\n");
    if (ends) break;
  }
  return 0;
}

/// A trial that is under way.
class RunningTrial {
 public:
  RunningTrial(const Work& work, const Trial& trial, int silence) : work_(work), trial_(trial) {
    ProcessOptions options;
    options.stdout_fd = options.stderr_fd = silence;
    pid_ = fork_process([&] { return perform(work, trial, results_.fd()); }, options);
  }

  /// The report, as soon as the trial has ended.
  std::optional<TrialReport> ended() {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) return report(status == 0 ? "" : describe_status(status));
    if (!is_stuck()) return std::nullopt;
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status, 0);
    return report("came to nothing for too long");
  }

 private:
  bool is_stuck() {
    const double passed = seconds_since(looked_);
    if (passed < kLookSeconds) return false;
    looked_ = Clock::now();
    clock_.look(passed, tree_below(pid_).threads);
    const std::string written = launch::view_bytes(results_.fd());
    const auto num_done = static_cast<std::size_t>(std::count(written.begin(), written.end(), '\n'));
    if (num_done != num_done_) {
      num_done_ = num_done;
      own_at_progress_ = clock_.own_seconds();
    }
    if (num_done_ >= trial_.runs.size()) return false;
    const double reference = work_.order.runs[static_cast<std::size_t>(trial_.runs[num_done_])].seconds;
    return clock_.own_seconds() - own_at_progress_ > kLeastPatience + kMostSlower * reference;
  }

  TrialReport report(const std::string& how) {
    TrialReport report;
    report.id = trial_.id;
    report.ended = how;
    for (const std::string& line : list_lines(launch::view_bytes(results_.fd()))) {
      if (line.back() == '\n') report.runs.push_back(from_json_text<OrdersReport>(line, "a run's report"));
    }
    return report;
  }

  const Work& work_;
  const Trial& trial_;
  launch::MemoryFile results_{"trial"};
  pid_t pid_ = -1;
  JobClock clock_;
  Clock::time_point looked_ = Clock::now();
  std::size_t num_done_ = 0;
  double own_at_progress_ = 0;
};

void perform_all(const Work& work) {
  const UniqueFd silence(::open("/dev/null", O_RDWR | O_CLOEXEC));
  std::list<RunningTrial> running;
  std::size_t next = 0;
  while (next < work.order.trials.size() || !running.empty()) {
    while (next < work.order.trials.size() && running.size() < static_cast<std::size_t>(work.order.jobs))
      running.emplace_back(work, work.order.trials[next++], silence.get());
    bool any = false;
    for (auto one = running.begin(); one != running.end();) {
      const std::optional<TrialReport> report = one->ended();
      if (report) {
        fmt::print("{}\n", json_text(*report));
        std::fflush(stdout);
        any = true;
      }
      one = report ? running.erase(one) : std::next(one);
    }
    if (!any) std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace

void trial_program(const std::vector<Case>& cases, CallTable (*calls)()) {
  int exit_code = 0;
  try {
    use_threads(1);  // no pool of threads before a fork
    launch::keep_freed_memory();
    launch::install_meters();
    warm_up();
    const auto order =
        from_json_text<TrialOrder>(std::string(std::istreambuf_iterator<char>(std::cin), {}), "an order of trials");
    const CallTable table = calls();
    perform_all({order, cases, table});
  } catch (const std::exception& failure) {
    fmt::print(stderr, "error: {}\n", failure.what());
    exit_code = 2;
  }
  std::fflush(nullptr);
  ::_exit(exit_code);
}

}  // namespace lab::grading::generated
