#include "common/checks/lab_step.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/checks/tests/small_lab.h"
#include "common/launch/run_ranks.h"
#include "common/log/check_log.h"
#include "common/log/match_line.h"
#include "common/testing/test.h"

// What a step prints is what it expects.
namespace lab {
namespace {

struct Text {
  std::string operator()(const std::string& line) const { return line; }
  std::string operator()(const log::JudgedLine& judged) const { return format(judged.line); }
  std::string operator()(const log::SkippedLine& line) const { return format(line); }
};

/// The lines of all ranks, rank 0's last.
std::string make_log(const std::vector<LabStep>& steps, const CallTable& calls, int num_ranks) {
  launch::WorldSpec spec;
  spec.num_ranks = num_ranks;
  const launch::WorldOutcome outcome = launch::run_ranks(
      spec, launch::RankBody([&](Communicator& comm, launch::RankOutcome& own) {
        log::PrinterOptions silent;
        silent.fd = -1;
        log::Printer printer(silent);
        const cli::CommonOptions options;
        TensorMap saved;
        RankRun run{comm, printer, options, calls, "N/A", comm.rank(), at::kCPU, saved, own.report.parts};
        for (const LabStep& step : steps) step.run(run);
        own.report.lines = printer.lines();
      }));
  REQUIRE_FALSE(outcome.failure);
  std::string log;
  for (auto rank = outcome.ranks.rbegin(); rank != outcome.ranks.rend(); ++rank) {
    for (const log::PrintedLine& line : rank->report.lines) log += std::visit(Text(), line) + "\n";
  }
  return log;
}

/// Cases on all ranks, on rank 0 only, and skipped on three ranks; with a heading and without.
std::vector<LabStep> some_steps() {
  const Case sum = testing::sum_task().test_case, of_rank_zero = testing::count_task().test_case;
  Case skipped = testing::gather_task().test_case;
  skipped.skip_reason = [](int size) { return size == 3 ? "three ranks" : ""; };
  return {announcement(), checks({{"The sum.", {sum}}, {"", {skipped, of_rank_zero}}}), done()};
}

CallTable some_calls() {
  CallTable calls;
  for (const testing::SmallTask& task : {testing::sum_task(), testing::gather_task(), testing::count_task()})
    calls[task.test_case.task] = task.right;
  return calls;
}

TEST_CASE("steps print what they expect") {
  for (const int num_ranks : {1, 2, 3}) {
    CAPTURE(num_ranks);
    const std::string log = make_log(some_steps(), some_calls(), num_ranks);
    CAPTURE(log);
    CHECK(log::check_log(log, make_expectation(some_steps(), num_ranks)).empty());
    CHECK_FALSE(log::check_log(log, make_expectation(some_steps(), num_ranks + 1)).empty());
  }
}

TEST_CASE("steps: a wrong result does not print what is expected, nor do steps in another order") {
  CallTable wrong = some_calls();
  wrong[testing::sum_task().test_case.task] = [](Communicator&, const CaseInputs& inputs) {
    return TensorMap{{"out", testing::read_x(inputs)}, {"x", testing::read_x(inputs)}};
  };
  CHECK(log::check_log(make_log(some_steps(), wrong, 2), make_expectation(some_steps(), 2)).size() == 2);
  std::vector<LabStep> swapped = some_steps();
  std::swap(swapped[1], swapped[2]);
  CHECK_FALSE(log::check_log(make_log(swapped, some_calls(), 2), make_expectation(some_steps(), 2)).empty());
}

TEST_CASE("steps: the figures' bound is the case's tolerance, unless the step has its own") {
  const std::vector<Section> sections = {{"", {testing::sum_task().test_case}}};
  const auto accepts = [](const LabStep& step, double max_diff) {
    const std::string line =
        format(log::MatchLine{testing::sum_task().test_case.prefix, 0, true, max_diff, max_diff / 2});
    return log::check_log(line + "\n", make_expectation({step}, 1)).empty();
  };
  CHECK(accepts(checks(sections), 0));
  CHECK_FALSE(accepts(checks(sections), 1e-9));
  CHECK(accepts(checks(sections, 1e-6), 1e-6));
  CHECK_FALSE(accepts(checks(sections, 1e-6), 2e-6));
}

}  // namespace
}  // namespace lab
