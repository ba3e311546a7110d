#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <sstream>
#include <variant>

#include "a5_pipeline/cases/cases.h"
#include "a5_pipeline/commands/main_comparison.h"
#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/pipeline/generators.h"
#include "common/pipeline/timeline.h"
#include "common/testing/test.h"

// The README and schedules.md quote the program's output exactly.
namespace lab::a5 {
namespace {

using pipeline::ScheduleOptions;

const std::string& readme() {
  static const std::string text = [] {
    const char* source_dir = std::getenv("LAB_SOURCE_DIR");
    REQUIRE_MESSAGE(source_dir != nullptr, "LAB_SOURCE_DIR: where the sources are");
    const std::string lab = std::string(source_dir) + "/a5_pipeline";
    return read_file(lab + "/README.md") + read_file(lab + "/schedules.md");
  }();
  return text;
}

void check_quoted(const std::string& text) {
  CAPTURE(text);
  CHECK(readme().find(text) != std::string::npos);
}

ScheduleOptions make_options(const std::string& kind, int num_ranks, int num_micro_batches, int num_chunks) {
  ScheduleOptions options;
  options.kind = kind;
  options.num_ranks = num_ranks;
  options.num_micro_batches = num_micro_batches;
  options.num_chunks = num_chunks;
  return options;
}

pipeline::Timeline plan_timeline(const pipeline::Schedule& schedule, double unit_seconds, double message_seconds = 0) {
  pipeline::Costs costs = even_costs(schedule, unit_seconds, unit_seconds, unit_seconds);
  costs.latency_seconds = message_seconds;
  costs.message_bytes = 64 << 10;
  return pipeline::make_timeline(schedule, costs);
}

double makespan(const std::string& kind, int num_ranks, int num_micro_batches, int num_chunks = 1) {
  return plan_timeline(make_schedule(make_options(kind, num_ranks, num_micro_batches, num_chunks)), 1).makespan_seconds;
}

TEST_CASE("the number of True lines for each number of ranks") {
  const LabOptions options;
  BaselineFile no_baseline;
  const std::vector<LabStep> steps = program_steps(options, no_baseline);
  std::vector<std::string> cells;
  for (const int num_ranks : {1, 2, 3, 4, 5, 8}) {
    int num_matches = 0;
    for (const auto& lines : make_expectation(steps, num_ranks).per_rank) {
      for (const log::ExpectedLine& line : lines) num_matches += std::holds_alternative<log::ExpectedMatch>(line);
    }
    cells.push_back(fmt::format("{}", num_matches));
  }
  check_quoted(fmt::format("| True lines | {} |\n", fmt::join(cells, " | ")));
}

TEST_CASE("each section's message, and each check's name") {
  for (const auto& sections : {sections_before_comparison(), sections_after_comparison()}) {
    for (const Section& section : sections) {
      check_quoted("[Rank 0] " + section.message + "\n");
      for (const Case& test_case : section.cases) check_quoted(test_case.prefix);
    }
  }
}

TEST_CASE("the table of makespans") {
  for (const auto& [p, m] : {std::pair(4, 4), std::pair(4, 8), std::pair(4, 16), std::pair(8, 32)}) {
    CHECK(makespan("1f1b", p, m) == makespan("afab", p, m));
    check_quoted(fmt::format("| {}, {} | {} | {} | {} | {} | {} |\n", p, m, makespan("afab", p, m),
                             makespan("interleaved", p, m, 2), makespan("interleaved", p, m, 4),
                             makespan("zb-h1", p, m), 3 * m));
  }
}

TEST_CASE("the printed timelines") {
  for (const std::string& kind : pipeline::schedule_kinds()) {
    const bool is_interleaved = kind == "interleaved";
    const pipeline::Schedule schedule = make_schedule(make_options(kind, 4, 8, is_interleaved ? 2 : 1));
    const pipeline::Timeline timeline = plan_timeline(schedule, 1e-3);
    std::istringstream lines(pipeline::timeline_text(schedule, timeline, is_interleaved ? 180 : 110) +
                             pipeline::timeline_summary(schedule, timeline, "s"));
    std::string quoted = fmt::format("    {}, 4 ranks, 8 micro-batches\n", kind);
    for (std::string line; std::getline(lines, line);) quoted += "    " + line + "\n";
    check_quoted(quoted);
  }
}

TEST_CASE("the deadlock of the naive 1F1B") {
  ScheduleOptions options = make_options("1f1b", 4, 8, 1);
  options.waiting = pipeline::Waiting::kBlocking;
  const pipeline::Schedule schedule = make_schedule(options);
  std::string message = "none";
  try {
    plan_timeline(schedule, 1);
  } catch (const DeadlockError& error) {
    message = error.what();
  }
  check_quoted("    " + message + "\n");
}

TEST_CASE("what messages cost on paper") {
  std::vector<std::string> cells;
  for (const char* kind : {"afab", "1f1b", "interleaved", "zb-h1"}) {
    const pipeline::Schedule schedule = make_schedule(make_options(kind, 4, 8, kind[0] == 'i' ? 2 : 1));
    const double message_seconds = 10e-6 + 65536 / 0.1e9;
    cells.push_back(fmt::format("{:.4g} ms", 1e3 * plan_timeline(schedule, 1e-3, message_seconds).makespan_seconds));
  }
  check_quoted(fmt::format("| cost model | {} |\n", fmt::join(cells, " | ")));
}

}  // namespace
}  // namespace lab::a5
