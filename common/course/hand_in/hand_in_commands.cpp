#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>

#include "common/course/course_arguments.h"
#include "common/course/course_commands.h"
#include "common/course/course_tree.h"
#include "common/course/hand_in/hand_in.h"
#include "common/course/hand_in/identity.h"

namespace lab {
namespace {

std::string answer_to(const char* question) {
  fmt::print("{}", question);
  std::fflush(stdout);
  std::string line;
  std::getline(std::cin, line);
  return line;
}

}  // namespace

ExitCode identity_command(int argc, char** argv) {
  CourseArguments arguments(argc, argv, "", "Stores who hands in; asks on a terminal, once");
  Identity identity;
  arguments.app().add_text("--name", identity.name, "NAME", "your name");
  arguments.app().add_text("--id", identity.id, "ID", "your number or login, by which results are kept apart");
  if (const auto answered = arguments.parse(0, 0)) return *answered;
  const std::string& root = arguments.root();
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
    return ExitCode::kAllMatch;
  }
  if (toml != to_toml(known)) save_identity(root, identity);
  fmt::print("handing in as {} (kept in {})\n", to_text(load_identity(root)), kIdentityInTree);
  return ExitCode::kAllMatch;
}

ExitCode needs_run_command(int argc, char** argv) {
  CourseArguments arguments(argc, argv, "LAB", "Says whether the hand-in needs a run");
  if (const auto answered = arguments.parse(1, 1)) return *answered;
  const CourseTree tree = CourseTree::load(arguments.root());
  fmt::print("{}\n", needs_run(tree, tree.lab_named(arguments.name())) ? "yes" : "no");
  return ExitCode::kAllMatch;
}

ExitCode pack_command(int argc, char** argv) {
  CourseArguments arguments(argc, argv, "LAB", "Packs what a lab asks to hand in");
  std::string results;
  arguments.app().add_text("--results", results, "DIR", "what a run left");
  if (const auto answered = arguments.parse(1, 1)) return *answered;
  const CourseTree tree = CourseTree::load(arguments.root());
  const Rubric& lab = tree.lab_named(arguments.name());
  if (!results.empty()) {
    for (const std::string& name : take_results(tree, lab, results)) fmt::print("from the run: {}\n", name);
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

}  // namespace lab
