#include <sys/prctl.h>

#include "common/base/text.h"
#include "common/launch/supervise/cores.h"
#include "grading/batch/grade_class.h"
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

}  // namespace

void grade_all_command(cli::App& app) {
  auto& options = app.own(GradeAllArguments());
  ClassOrder& order = options.order;
  order.out = "out/class";
  order.jobs = launch::usable_cores();
  options.place.add_to(app);
  order.source.add_to(app);
  app.add_text("--out", order.out, "DIR", "where the results go");
  app.add_integer("--jobs", order.jobs, {1, 1024}, "submissions at a time");
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
    return grade_class(place, order);
  });
}

}  // namespace lab::grading
