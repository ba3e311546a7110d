#include "grading/judge/check_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <set>
#include <utility>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/launch/supervise/run_directory.h"
#include "grading/judge/not_judged.h"

namespace lab::grading {
namespace {

constexpr double kMostSeconds = 300;
// A rank's own time-out is by the clock. A job that was able to run is found stuck long before.
constexpr double kStallsBeforeTimeout = 12;

std::uint64_t bytes_in(const std::vector<UniqueFd>& files) {
  std::uint64_t total = 0;
  for (const UniqueFd& file : files) {
    struct stat info = {};
    if (::fstat(file.get(), &info) == 0) total += static_cast<std::uint64_t>(info.st_size);
  }
  return total;
}

/// Why the records are not acceptable: a rank must report each check once.
std::string repeated_record(const std::vector<CaseRecord>& records) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const CaseRecord& record : records) {
    if (!seen.insert({record.task, record.name}).second) return fmt::format("two results of {}", record.name);
  }
  return "";
}

/// The program's message: its first line on stderr that says `error:`, else its first line.
std::string message_of_run(const SandboxResult& result) {
  if (result.end == SandboxResult::End::kExited && result.exit_code == 0) return "";
  std::string first;
  std::size_t begin = 0;
  while (begin < result.err.size()) {
    const std::size_t end = std::min(result.err.find('\n', begin), result.err.size());
    const std::string line = one_line(result.err.substr(begin, end - begin));
    const std::size_t error = line.find("error: ");
    if (error != std::string::npos) return line.substr(error + 7, 600);
    if (first.empty()) first = line.substr(0, 600);
    begin = end + 1;
  }
  const std::string ending = "the program " + result.words();
  return first.empty() ? ending : fmt::format("{}; it printed: {}", ending, first);
}

CheckRun judged(const DecidingWorld<CaseWorld>& deciding, const Case& test_case, std::uint64_t seed) {
  const CaseWorld& world = *deciding.world;
  CheckRun run;
  run.verdict = world.judged(test_case, seed);
  if (!deciding.to_blame) return run;
  if (!world.ok()) run.message = world.broken.empty() ? world.message : world.broken;
  run.deadlocked = world.result.end == SandboxResult::End::kExited &&
                   world.result.exit_code == static_cast<int>(ExitCode::kDeadlock);
  return run;
}

}  // namespace

CaseWorld run_case_world(const Sandbox& sandbox, const CaseWorldSpec& spec) {
  const RunDirectory work;
  std::vector<UniqueFd> files;
  std::vector<int> numbers;
  for (int rank = 0; rank < spec.num_ranks; ++rank) {
    files.emplace_back(make_record_file());
    numbers.push_back(files.back().get());
  }
  SandboxJob job;
  job.argv = {spec.program,    "records",
              "--nproc",       std::to_string(spec.num_ranks),
              "--seed",        std::to_string(spec.seed),
              "--tasks",       fmt::format("{}", fmt::join(spec.cases, ",")),
              "--timeout",     fmt::format("{}", kStallsBeforeTimeout * spec.stall_seconds),
              "--descriptors", fmt::format("{}", fmt::join(numbers, ","))};
  job.folder = work.path();
  job.readable = spec.readable;
  job.readable.push_back(spec.program);
  job.limits.run_seconds = kMostSeconds;
  job.limits.stall_seconds = spec.stall_seconds;
  job.progress = [&files] { return bytes_in(files); };

  CaseWorld world;
  world.result = sandbox.run(job);
  world.message = message_of_run(world.result);
  const bool rank_timed_out = world.result.exit_code == static_cast<int>(ExitCode::kCommunication) &&
                              world.result.last_progress >= kStallsBeforeTimeout * spec.stall_seconds;
  world.is_machines_fault = world.result.is_machines_fault() || rank_timed_out;
  for (int rank = 0; rank < spec.num_ranks; ++rank) {
    RecordsRead read = read_records(files[static_cast<std::size_t>(rank)].get());
    const std::string wrong = read.broken.empty() ? repeated_record(read.records) : read.broken;
    if (!wrong.empty() && world.broken.empty())
      world.broken = fmt::format("rank {} sent an invalid result: {}", rank, wrong);
    world.intact = world.intact && wrong.empty();
    world.by_rank.push_back(std::move(read.records));
  }
  return world;
}

std::vector<CheckRun> CheckRunner::run(int num_ranks, const std::vector<Case>& cases) const {
  CaseWorldSpec spec;
  spec.program = program;
  spec.num_ranks = num_ranks;
  spec.seed = seed;
  spec.stall_seconds = stall_seconds;
  const auto deciding = perform_apart<CaseWorld>(cases, [&](const std::vector<Case>& some) {
    spec.cases.clear();
    for (const Case& test_case : some) spec.cases.push_back(test_case.name);
    CaseWorld world = run_case_world(sandbox, spec);
    if (world.is_machines_fault) world = run_case_world(sandbox, spec);
    if (world.is_machines_fault)
      throw NotJudged(fmt::format("twice, on {}: {}", counted(num_ranks, "rank"), world.message));
    return world;
  });
  std::vector<CheckRun> runs;
  for (std::size_t i = 0; i < cases.size(); ++i) runs.push_back(judged(deciding[i], cases[i], seed));
  return runs;
}

}  // namespace lab::grading
