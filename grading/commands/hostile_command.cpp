#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "common/base/files.h"
#include "common/course/course_tree.h"
#include "grading/commands/commands.h"
#include "grading/commands/todays_part.h"
#include "grading/hostile/grade_hostile.h"
#include "grading/judge/judging_place.h"
#include "grading/processes/own_processes.h"

namespace lab::grading {
namespace {

struct HostileOptions {
  std::string source = ".", build;
  std::vector<std::string> names;  ///< empty: all
  std::string level;               ///< empty: as far as this machine can
  std::uint64_t seed = 7;
  int jobs = 2, days = 1;
  bool quick = false;
  std::string result;  ///< grade one in this process, and leave its verdict there
};

/// The sandbox of the level that was asked for.
Sandbox make_sandbox(const std::string& level) {
  const Sandbox sandbox = Sandbox::detect(level != "limits");
  if (level == "full" && !sandbox.isolates())
    throw UsageError(fmt::format("--level full: this machine cannot; {}", sandbox.level()));
  return sandbox;
}

std::vector<HostileEntry> chosen_entries(const HostileOptions& options) {
  const CourseTree tree = CourseTree::load(options.source);
  std::vector<std::string> tasks;
  for (const Rubric& lab : tree.labs()) {
    for (const RubricTask& task : lab.tasks) tasks.push_back(task.id);
  }
  const std::vector<HostileEntry> entries = load_hostile(options.source + "/grading/hostile/hostile.toml", tasks);
  for (const std::string& name : options.names) {
    if (std::none_of(entries.begin(), entries.end(), [&](const HostileEntry& entry) { return entry.name == name; }))
      throw UsageError(fmt::format("hostile: there is no {}", name));
  }
  const auto& names = options.names;
  std::vector<HostileEntry> chosen;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const bool is_named = names.empty() || std::count(names.begin(), names.end(), entries[i].name) != 0;
    if (is_named && !(entries[i].nightly && options.quick) && is_todays(i, options.days)) chosen.push_back(entries[i]);
  }
  return chosen;
}

HostileSuite make_suite(const HostileOptions& options, bool isolated) {
  const auto absolute = [](const std::string& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
  };
  const std::string source = absolute(options.source);
  return {source, absolute(options.build.empty() ? source + "/build/release" : options.build), isolated, options.seed};
}

/// Grades each entry in its own process: this program with --result. Returns how many are not as required.
std::size_t grade_all(const std::vector<HostileEntry>& entries, int jobs, const HostileOptions& options,
                      const Sandbox& sandbox) {
  std::size_t num_wrong = 0;
  OwnProcesses work;
  work.count = entries.size();
  work.jobs = jobs;
  work.arguments = [&](std::size_t item) {
    std::vector<std::string> arguments = {
        "hostile", entries[item].name,           "--level",  sandbox.isolates() ? "full" : "limits",
        "--seed",  std::to_string(options.seed), "--source", options.source};
    if (!options.build.empty()) arguments.insert(arguments.end(), {"--build", options.build});
    return arguments;
  };
  work.ended = [&](std::size_t item, Verdict verdict) {
    if (verdict.as_required && !verdict.level.empty() && verdict.level != sandbox.level()) {
      verdict.as_required = false;
      verdict.complaint = "it was graded at another level: " + verdict.level;
    }
    num_wrong += verdict.as_required ? 0 : 1;
    print_row(verdict, entries[item].name, entries[item].task);
  };
  run_in_own_processes(work);
  return num_wrong;
}

/// One entry of each lab: the first to be graded compiles the starter's files, which the others find in the store.
std::vector<HostileEntry> take_one_per_lab(std::vector<HostileEntry>& entries) {
  std::vector<HostileEntry> taken;
  std::set<std::string> labs;
  const auto left = std::stable_partition(entries.begin(), entries.end(), [&](const HostileEntry& entry) {
    return entry.archive.empty() && labs.insert(entry.lab).second;
  });
  taken.assign(entries.begin(), left);
  entries.erase(entries.begin(), left);
  return taken;
}

ExitCode run_hostile(const HostileOptions& options) {
  const Sandbox found = make_sandbox(options.level);
  const std::vector<HostileEntry> entries = chosen_entries(options);
  if (!options.result.empty()) {
    const HostileEntry& entry = entries.at(0);
    write_file_atomically(options.result, json_text(grade_hostile(entry, judged_lab(entry.lab).folder,
                                                                  make_suite(options, found.isolates()))));
    return ExitCode::kAllMatch;
  }
  fmt::print("isolation: {}\n", found.level());
  std::fflush(stdout);
  const Sandbox sandbox = Sandbox::detect(found.isolates());  // as each entry is graded, which is told only that
  std::vector<HostileEntry> rest = entries;
  const std::vector<HostileEntry> first = take_one_per_lab(rest);
  const std::size_t num_wrong = grade_all(first, 1, options, sandbox) + grade_all(rest, options.jobs, options, sandbox);
  fmt::print("{} hostile hand-ins, {} not as required; isolation: {}\n", entries.size(), num_wrong, sandbox.level());
  return num_wrong == 0 ? ExitCode::kAllMatch : ExitCode::kMismatch;
}

}  // namespace

void hostile_command(cli::App& app) {
  auto& options = app.own(HostileOptions());
  app.add_argument("[NAME]...", options.names, "an entry of hostile.toml, such as fork_bomb; none: all");
  app.add_flag("--quick", options.quick, "without those that are marked as nightly");
  app.add_choice("--level", options.level, {"full", "limits"},
                 "with bubblewrap, or with limits only (default: with bubblewrap where it works)");
  app.add_integer("--days", options.days, {1, 365}, "try one of N parts, another one each day");
  app.add_integer("--jobs", options.jobs, {1, 64}, "hand-ins at a time");
  app.add_seed("--seed", options.seed, "of the inputs");
  app.add_text("--source", options.source, "DIR", "the suite's own tree");
  app.add_text("--build", options.build, "DIR", "its build folder (default: build/release in the tree)");
  app.add_text("--result", options.result, "FILE", "grade one here, and leave its verdict as JSON");
  app.set_action([&] { return run_hostile(options); });
}

}  // namespace lab::grading
