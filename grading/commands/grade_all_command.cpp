#include <fmt/format.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include <filesystem>

#include "common/base/files.h"
#include "common/base/subprocess.h"
#include "common/base/text.h"
#include "common/launch/supervise/cores.h"
#include "common/launch/supervise/janitor.h"
#include "common/launch/supervise/rank_environment.h"
#include "grading/batch/grade_class.h"
#include "grading/batch/grade_one.h"
#include "grading/commands/commands.h"

namespace lab::grading {
namespace {

struct GradeAllArguments {
  PlaceOptions place;
  ClassOrder order;
  std::string only;
};

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (const std::string_view name : split(list, ',')) {
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

/// Puts all temporary folders of this process next to the results, where other machines see what they are to do.
/// Returns   the folder around them
std::string use_shared_folder(GradeAllArguments& options) {
  ClassOrder& order = options.order;
  GraderOptions& graders = order.graders;
  const auto words = split_command(graders.through);
  if (!words || words->empty() || !is_in_path(words->front()))
    throw UsageError(
        fmt::format("--through: expected a program in PATH, and options that a command may follow, got "
                    "\"{}\"; hint: 'srun -N1 -n1 -c1'",
                    graders.through));
  graders.argv = *words;
  graders.argv.insert(graders.argv.end(), {own_program(), "grade-one"});
  for (const std::string& argument : options.place.arguments()) graders.argv.push_back(argument);
  // The janitor has made the folder in it that this process uses itself.
  const std::filesystem::path own = launch::process_variable("TMPDIR").value_or("/tmp/-");
  graders.environment = {{"TMPDIR", own.parent_path().string()}};
  const std::string shared = std::filesystem::absolute(order.out).string() + "/.run";
  make_folder("--out", shared);
  ::setenv("TMPDIR", shared.c_str(), 1);
  return shared;
}

}  // namespace

void grade_all_command(cli::App& app) {
  auto& options = app.own(GradeAllArguments());
  ClassOrder& order = options.order;
  order.out = "out/class";
  order.graders.jobs = launch::usable_cores();
  options.place.add_to(app);
  order.source.add_to(app);
  app.add_text("--out", order.out, "DIR", "where the results go");
  app.add_integer("--jobs", order.graders.jobs, {1, 1024}, "submissions at a time");
  app.add_text("--through", order.graders.through, "COMMAND",
               "what starts the grading of each submission, such as 'srun -N1 -n1 -c1', on any machine that sees this "
               "tree, FOLDER and --out");
  app.add_texts(
      "--column", order.columns, "LAB=COLUMN",
      "the column of Canvas' gradebook for a lab: 'a9=A9 Collectives (123456)'; of Moodle's worksheet: a9=Grade");
  app.add_flag("--with-pending", order.with_pending, "fill in marks of which some are pending, as they are so far");
  app.add_text("--only", options.only, "WHO[,WHO]...", "only these students or submissions");
  app.add_flag("--changed", order.choice.changed, "only what was graded before and is different now");
  app.add_flag("--again", order.choice.again, "also what is graded already");
  order.how.add_to(app);
  app.add_seed("--seed", order.seed, "of the inputs (default: that of the earlier results, or a new one)");
  app.set_action([&] {
    order.choice.only = names_in(options.only);
    order.choice.decisions = {order.how.accepted, order.how.judging.believes_ranks};
    const JudgingPlace place(options.place);
    ::prctl(PR_SET_DUMPABLE, 0);  // other processes of this user must not read what is expected in this one's memory
    if (order.graders.through.empty()) return grade_class(place, order);
    const std::string shared = use_shared_folder(options);
    const auto grade = [&] {
      const launch::Janitor janitor;
      return grade_class(place, order);
    };
    const ExitCode code = grade();
    std::error_code ignored;
    std::filesystem::remove(shared, ignored);
    return code;
  });
}

void grade_one_command(cli::App& app) {
  struct Arguments {
    PlaceOptions place;
    std::string file;
  };
  auto& options = app.own(Arguments());
  options.place.add_to(app);
  app.add_argument("ORDER", options.file, "the file that says what to do");
  app.set_action([&] {
    ::prctl(PR_SET_DUMPABLE, 0);  // as above
    carry_out(JudgingPlace(options.place), options.file);
    return ExitCode::kAllMatch;
  });
}

}  // namespace lab::grading
