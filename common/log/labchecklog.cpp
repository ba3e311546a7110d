#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/api/errors.h"
#include "common/base/lab_names.h"
#include "common/base/text.h"
#include "common/cli/app.h"
#include "common/log/check_log.h"
#include "common/log/expected_logs.h"
#include "common/log/expected_run.h"

// `lab check-log`: compares a log with the lines that a lab is known to print. Without the lab: it builds in seconds.
namespace lab::log {
namespace {

/// What a log is compared with, as the command line names it.
struct Wanted {
  std::string lab, path;
  std::vector<std::string> options;  ///< of the run: those that change lines, and the lab's command
  int num_ranks = 4;
};

const ExpectedLog& make_log(const std::string& lab, const std::vector<ExpectedLog>& logs) {
  std::vector<std::string> folders;
  for (const ExpectedLog& log : logs) folders.push_back(log.lab);
  return logs[lab_named(lab, folders)];
}

/// The options one by one, each with its value, as they may come in any order: "--a=1 --b" is "--a 1" and "--b".
std::multiset<std::string> one_by_one(const std::vector<std::string>& words) {
  std::multiset<std::string> options;
  std::string option;
  for (std::string word : words) {
    const bool begins_option = word.substr(0, 2) == "--";
    if (begins_option && !option.empty()) options.insert(std::exchange(option, ""));
    if (begins_option) std::replace(word.begin(), std::find(word.begin(), word.end(), ' '), '=', ' ');
    option += (option.empty() ? "" : " ") + word;
  }
  if (!option.empty()) options.insert(option);
  return options;
}

std::multiset<std::string> one_by_one(const std::string& options) {
  std::vector<std::string> words;
  for (const std::string_view word : split(options, ' ')) words.emplace_back(word);
  return options.empty() ? std::multiset<std::string>() : one_by_one(words);
}

const ExpectedRun& run_with(const std::vector<std::string>& options, const std::vector<ExpectedRun>& runs,
                            const std::string& lab) {
  std::vector<std::string> known;
  for (const ExpectedRun& run : runs) {
    if (one_by_one(run.options) == one_by_one(options)) return run;
    if (!run.options.empty()) known.push_back("'" + run.options + "'");
  }
  const std::string others = known.empty() ? "" : fmt::format(", or {}", fmt::join(known, ", "));
  throw UsageError(
      fmt::format("a run of {} with '{}': expected no options{}; hint: leave out those that change no line", lab,
                  one_line(safe_text(fmt::format("{}", fmt::join(options, " ")), 200)), others));
}

ExitCode check(const Wanted& wanted) {
  const std::vector<ExpectedLog> logs = expected_logs();
  const ExpectedLog& log = make_log(wanted.lab, logs);
  const std::vector<ExpectedRun> runs = expected_runs(log.text, log.lab + "/expected_log.txt");
  return check_log_file(wanted.path, log.lab,
                        expectation_on(run_with(wanted.options, runs, log.lab), wanted.num_ranks));
}

ExitCode run(int argc, char** argv) {
  cli::App app(
      "labchecklog",
      "Compares a log with the lines of a right run of a lab. Colours, time stamps, launchers' marks and Windows "
      "line ends do not matter.");
  Wanted wanted;
  app.add_argument("LAB", wanted.lab, "the lab, such as a4");
  app.add_argument("FILE", wanted.path, "the log; - reads standard input");
  app.add_argument("[RUN...]", wanted.options,
                   "the run's command and options, if they change lines, after --: -- modules --only conv2d");
  app.add_integer("--nproc", wanted.num_ranks, {1, 4096}, "ranks of the run");
  app.set_action([&] { return check(wanted); });
  return app.run(argc, argv);
}

}  // namespace
}  // namespace lab::log

int main(int argc, char** argv) {
  return lab::cli::guarded_main(argc, argv, lab::log::run);
}
