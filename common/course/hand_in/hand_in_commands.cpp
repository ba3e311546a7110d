#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>

#include "common/course/course_commands.h"
#include "common/course/course_tree.h"
#include "common/course/hand_in/hand_in.h"
#include "common/course/hand_in/identity.h"
#include "common/course/lab_check.h"

namespace lab {
namespace {

std::string answer_to(const char* question) {
  fmt::print("{}", question);
  std::fflush(stdout);
  std::string line;
  std::getline(std::cin, line);
  return line;
}

void store_identity(const std::string& root, Identity identity) {
  const Identity known = load_identity(root);
  const bool somebody_there = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  if (identity.empty() && known.empty() && somebody_there) {
    identity = {answer_to("your name, for the hand-in: "), answer_to("your student number or login: ")};
  }
  if (identity.name.empty()) identity.name = known.name;
  if (identity.id.empty()) identity.id = known.id;
  const std::string toml = to_toml(identity);
  if (identity.empty() || toml == to_toml({})) {
    fmt::print(
        "note: the hand-in does not say whose it is; hint: lab submit --name 'Ada Lovelace' --id s1234567, once\n");
    return;
  }
  if (toml != to_toml(known)) save_identity(root, identity);
  fmt::print("handing in as {} (kept in {})\n", to_text(load_identity(root)), kIdentityInTree);
}

ExitCode pack(const CourseTree& tree, const Rubric& lab, const std::string& results) {
  for (const std::string& folder : {tree.root(), results}) {
    if (folder.empty()) continue;
    for (const std::string& file : take_results(tree, lab, folder)) fmt::print("from a run: {}\n", file);
  }
  const HandIn hand_in = collect_hand_in(tree, lab);
  for (const std::string& warning : hand_in.warnings) fmt::print("note: {}\n", warning);
  std::fflush(stdout);
  for (const std::string& problem : hand_in.problems) fmt::print(stderr, "lab submit: {}\n", problem);
  const bool complete = hand_in.problems.empty();
  const std::vector<std::string> written = write_hand_in(tree, lab, hand_in);
  fmt::print("the hand-in is {}: {} file{}, {}\n", complete ? "complete" : "INCOMPLETE", hand_in.files.size(),
             hand_in.files.size() == 1 ? "" : "s", fmt::join(written, " "));
  return complete ? ExitCode::kAllMatch : ExitCode::kMismatch;
}

/// Runs the lab; its results go to a folder.
void run_for_hand_in(const CourseTree& tree, const Rubric& lab, const std::string& folder) {
  fmt::print("lab: running {} on 4 ranks for its log\n", lab.lab);
  build_program(tree, "labrun");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const int code = run_here({tree.get_folder(lab) + "/run.sh", "--out", folder}, {{"OUT", folder}});
  if (code == 0) return;
  run_here({"tail", "-n", "3", "--", folder + "/" + lab.lab + ".err"}, {}, STDERR_FILENO);
  fmt::print(stderr, "lab: the run ended with exit code {}; what it left is taken all the same\n", code);
}

/// Unsolved tasks and missing files do not keep it from packing the rest.
ExitCode submit_lab(const CourseTree& tree, const Rubric& lab, LabChecks& checks) {
  if (checks.check({&lab, {}}) == 0) {
    fmt::print("lab: every task of {} is solved\n", lab.lab);
  } else {
    fmt::print("lab: not everything is solved: it can be handed in as it is, and gets the marks of what is right\n");
  }
  const std::string results = tree.root() + "/build/submit/" + lab.lab;
  const bool runs = needs_run(tree, lab) && build_program(tree, lab.lab);
  if (runs) run_for_hand_in(tree, lab, results);
  return pack(tree, lab, runs ? results : "");
}

}  // namespace

void submit_command(cli::App& app) {
  auto& names = app.own(std::vector<std::string>());
  auto& identity = app.own(Identity());
  app.add_argument("[LAB]...", names, "none: all");
  app.add_text("--name", identity.name, "NAME", "your name");
  app.add_text("--id", identity.id, "ID", "your number or login, by which results are kept apart");
  app.set_action([&names, &identity, &root = add_root(app)] {
    const CourseTree tree = CourseTree::load(root);
    for (const std::string& name : names) tree.lab_named(name);
    store_identity(root, identity);
    LabChecks checks(tree, {});
    ExitCode first = ExitCode::kAllMatch;
    for (const PlannedCheck& plan : plan_checks(tree, names)) {
      fmt::print("lab: --- {}\n", plan.lab->lab);
      const ExitCode code = submit_lab(tree, *plan.lab, checks);
      if (first == ExitCode::kAllMatch) first = code;
    }
    return first;
  });
}

}  // namespace lab
