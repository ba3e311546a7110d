#include "grading/batch/graders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "common/base/subprocess.h"
#include "common/base/text.h"
#include "grading/batch/class_folder.h"

namespace lab::grading {
namespace {

constexpr std::size_t kMostPrinted = 64 << 10;  ///< kept of what a grader, or what starts it, prints
constexpr std::chrono::seconds kLongWait{30};
constexpr std::chrono::minutes kLongestSilence{3};  ///< network file systems show changes after up to a minute

}  // namespace

Graders::Graders(const JudgingPlace& place, const std::vector<KnownLab>& known, GraderOptions options)
    : place_(place), known_(known), options_(std::move(options)) {}

std::optional<int> Graders::run(const std::vector<GradeOrder>& orders,
                                const std::function<void(std::size_t order, const GradedHandIn& graded)>& take) {
  start_ = std::chrono::steady_clock::now();
  std::vector<Attempt> attempts, lost;
  // run_forked() begins with the last one.
  for (std::size_t i = orders.size(); i > 0; --i) attempts.push_back({i - 1, ""});
  ForkedWork work;
  work.jobs = options_.jobs;
  work.max_output_bytes = kMostPrinted;
  work.body = [&](std::size_t item) { return start(orders[attempts[item].order], file_for(attempts[item])); };
  if (!options_.through.empty()) work.is_lost = [&](std::size_t item) { return is_lost(file_for(attempts[item])); };
  work.ended = [&](std::size_t item, const ForkedEnd& end) {
    const auto& [order, lost_on] = attempts[item];
    const OrderFile file = file_for(attempts[item]);
    GradedHandIn graded = file.read_result();
    file.close();
    something_began_ = something_began_ || !graded.node.empty();
    // What starts nothing at all starts nothing the second time either.
    const bool is_lost = !graded.is_done && something_began_;
    const std::string node = graded.node.empty() ? "its way" : graded.node;
    if (is_lost && lost_on.empty()) {
      lost.insert(lost.begin(), {order, node});
      return print_note(fmt::format("{}: lost on {}: {}; it is graded again after the others",
                                    std::filesystem::path(orders[order].results).filename().string(), node,
                                    describe_end(end)));
    }
    if (is_lost) {
      graded.problem = fmt::format("lost twice, on {} and {}: {}; hint: the same command grades it again", lost_on,
                                   node, describe_end(end));
    } else if (!graded.is_done) {
      graded.problem = describe_end(end);
      if (!options_.through.empty()) graded.problem += fmt::format("; hint: try {} hostname", options_.through);
    }
    if (!graded.is_done || options_.through.empty()) graded.node.clear();
    take(order, graded);
    if (graded.is_done && !options_.through.empty() && !end.out.empty() && !std::exchange(stdout_is_noted_, true))
      print_note(fmt::format("'{}' writes to stdout, which is left out: {}", options_.through, one_line(end.out)));
  };
  for (; !attempts.empty(); attempts = std::exchange(lost, {})) {
    work.count = attempts.size();
    if (const std::optional<int> signal = run_forked(work)) return signal;
  }
  return std::nullopt;
}

OrderFile Graders::file_for(const Attempt& attempt) const {
  return OrderFile(fmt::format("{}/{}-{}", folder_.path(), attempt.order, attempt.lost_on.empty() ? 1 : 2));
}

/// In a process of its own, which may become another that does this elsewhere.
int Graders::start(const GradeOrder& order, const OrderFile& file) const {
  file.open();
  const bool judges =
      std::any_of(order.labs.begin(), order.labs.end(), [](const LabOrder& lab) { return lab.outcome.empty(); });
  if (judges && !options_.through.empty()) {
    file.write(order);
    std::vector<std::string> argv = options_.argv;
    argv.push_back(file.path());
    become_program(argv, options_.environment);
  }
  file.begin();
  carry_out(place_, known_, order, file);
  return 0;
}

/// Of a grader that was begun elsewhere: whether it has shown no sign of life for too long.
bool Graders::is_lost(const OrderFile& file) {
  const Time now = std::chrono::steady_clock::now();
  const std::optional<std::filesystem::file_time_type> sign = file.sign_of_life();
  something_began_ = something_began_ || sign;
  if (!something_began_ && !wait_is_noted_ && now - start_ > kLongWait) say_that_nothing_begins();
  if (!sign) return false;
  auto& [last, seen] = signs_of_life_[file.path()];
  if (last != *sign) std::tie(last, seen) = std::tie(*sign, now);
  return now - seen > kLongestSilence;
}

/// A queue may keep all of them waiting for hours, and a command that starts nothing may never end.
void Graders::say_that_nothing_begins() {
  wait_is_noted_ = true;
  print_note(
      fmt::format("--through '{}' has begun no grading for {} s; hint: a queue may be full, or its command starts "
                  "nothing; Ctrl-C stops, and what is graded is kept",
                  options_.through, kLongWait.count()));
  std::fflush(stdout);
}

/// Of a process that has left no result.
std::string Graders::describe_end(const ForkedEnd& end) const {
  const std::string printed = one_line(end.err.empty() ? end.out : end.err);
  const std::string what =
      fmt::format("exit code {}{}{}", end.exit_code, printed.empty() ? "" : ": ", safe_text(printed, 500));
  if (options_.through.empty()) return "its process ended with " + what;
  return fmt::format("--through '{}': expected the grading that follows it to end first, got {}", options_.through,
                     what);
}

}  // namespace lab::grading
