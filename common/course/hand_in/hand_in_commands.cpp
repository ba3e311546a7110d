#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>

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

ExitCode store_identity(const std::string& root, Identity identity) {
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

ExitCode pack(const std::string& root, const std::string& name, const std::string& results) {
  const CourseTree tree = CourseTree::load(root);
  const Rubric& lab = tree.lab_named(name);
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

}  // namespace

void identity_command(cli::App& app) {
  auto& identity = app.own(Identity());
  app.add_text("--name", identity.name, "NAME", "your name");
  app.add_text("--id", identity.id, "ID", "your number or login, by which results are kept apart");
  app.set_action([&identity, &root = add_root(app)] { return store_identity(root, identity); });
}

void needs_run_command(cli::App& app) {
  auto& name = app.own(std::string());
  app.add_argument("LAB", name, "such as a9");
  app.set_action([&name, &root = add_root(app)] {
    const CourseTree tree = CourseTree::load(root);
    fmt::print("{}\n", needs_run(tree, tree.lab_named(name)) ? "yes" : "no");
    return ExitCode::kAllMatch;
  });
}

void pack_command(cli::App& app) {
  auto& name = app.own(std::string());
  auto& results = app.own(std::string());
  app.add_argument("LAB", name, "such as a9");
  app.add_text("--results", results, "DIR", "what a run left");
  app.set_action([&name, &results, &root = add_root(app)] { return pack(root, name, results); });
}

}  // namespace lab
