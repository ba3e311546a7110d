#include "grading/judge/check_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>

#include "common/base/errors.h"
#include "common/base/text.h"
#include "common/launch/supervise/run_directory.h"
#include "grading/judge/sandbox.h"

namespace lab::grading {
namespace {

constexpr double kMostSeconds = 300;
// A rank's own time-out is by the clock. A job that was able to run is found stuck long before.
constexpr double kStallsBeforeTimeout = 12;

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
  for (const std::string_view whole_line : split(result.err, '\n')) {
    const std::string line = one_line(whole_line);
    const std::size_t error = line.find("error: ");
    if (error != std::string::npos) return line.substr(error + 7, 600);
    if (first.empty()) first = line.substr(0, 600);
  }
  const std::string ending = "the program " + result.ending();
  return first.empty() ? ending : fmt::format("{}; it printed: {}", ending, first);
}

}  // namespace

CaseWorld run_case_world(const Sandbox& sandbox, const CaseWorldSpec& spec) {
  const launch::RunDirectory work;
  const RecordFiles files(spec.num_ranks);
  SandboxJob job;
  job.argv = {spec.program,    "records",
              "--nproc",       std::to_string(spec.num_ranks),
              "--seed",        std::to_string(spec.seed),
              "--tasks",       fmt::format("{}", fmt::join(spec.cases, ",")),
              "--timeout",     fmt::format("{}", kStallsBeforeTimeout * spec.stall_seconds),
              "--descriptors", fmt::format("{}", fmt::join(files.descriptors(), ","))};
  job.folder = work.path();
  job.readable = spec.readable;
  job.readable.push_back(spec.program);
  job.limits.run_seconds = kMostSeconds;
  job.limits.stall_seconds = spec.stall_seconds;
  job.progress = [&files] { return files.num_bytes(); };

  CaseWorld world;
  world.result = sandbox.run(job);
  const bool rank_timed_out = world.result.exit_code == static_cast<int>(ExitCode::kCommunication) &&
                              world.result.last_progress >= kStallsBeforeTimeout * spec.stall_seconds;
  world.is_machines_fault = world.result.is_machines_fault() || rank_timed_out;
  std::string message = message_of_run(world.result);
  for (RecordsRead& read : files.read()) {
    const std::string wrong = read.broken.empty() ? repeated_record(read.records) : read.broken;
    if (!wrong.empty() && world.intact && !world.is_machines_fault)
      message = fmt::format("rank {} sent an invalid result: {}", world.by_rank.size(), wrong);
    world.intact = world.intact && wrong.empty();
    world.by_rank.push_back(std::move(read.records));
  }
  if (!message.empty()) world.failure = launch::RankFailure{world.result.exit_code, message};
  return world;
}

std::vector<CheckedCase> CheckRunner::run(int num_ranks, const std::vector<Case>& cases) const {
  CaseWorldSpec spec;
  spec.program = program;
  spec.num_ranks = num_ranks;
  spec.seed = seed;
  spec.stall_seconds = stall_seconds;
  return check_apart(cases, seed, [&](const std::vector<Case>& some) {
    spec.cases.clear();
    for (const Case& test_case : some) spec.cases.push_back(test_case.name);
    CaseWorld world = run_case_world(sandbox, spec);
    if (world.is_machines_fault) world = run_case_world(sandbox, spec);
    if (world.is_machines_fault)
      throw NotJudged(fmt::format("twice, on {}: {}", counted(num_ranks, "rank"), world.failure->message));
    return RecordedWorld(std::move(world));
  });
}

}  // namespace lab::grading
