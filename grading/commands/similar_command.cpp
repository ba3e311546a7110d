#include <fmt/format.h>

#include "common/base/files.h"
#include "common/base/text.h"
#include "common/launch/supervise/cores.h"
#include "grading/batch/class_overview.h"
#include "grading/commands/commands.h"
#include "grading/judge/judging_place.h"
#include "grading/similarity/similarity_report.h"

namespace lab::grading {
namespace {

struct SimilarArguments {
  RubricOptions suite;
  ClassSource hand_ins;
  std::string out = "out/class";
  SimilarityLimits limits;
  int jobs = launch::usable_cores();
  int top = 5;
};

std::vector<KnownLab> known_labs(const RubricOptions& suite) {
  std::vector<KnownLab> known;
  for (const JudgedLab& lab : judged_labs())
    known.push_back(known_lab(load_lab_rubric(lab, suite.source, suite.rubric), suite.source + "/" + lab.folder));
  return known;
}

ExitCode find_similar(const SimilarArguments& arguments) {
  make_folder("--out", arguments.out);
  const std::unique_ptr<Roster> roster = arguments.hand_ins.read_roster();
  const ClassFolder folder(arguments.hand_ins, arguments.out, known_labs(arguments.suite), roster.get());
  for (const std::string& note : folder.hand_ins().notes) print_note(note);
  for (const std::string& note : folder.hand_ins().lost) print_note(note);
  int signal = 0;
  std::optional<ClassCode> code = read_class_code(folder, roster.get(), arguments.jobs, signal);
  if (!code) return static_cast<ExitCode>(128 + signal);
  const Sandbox sandbox = Sandbox::detect();
  const auto given = given_lines(arguments.suite.source);
  std::vector<LabSimilarity> labs;
  for (const auto& [lab, hand_ins] : code->labs) {
    labs.push_back(compare_lab(lab, hand_ins, given.at(lab), sandbox));
    for (const std::size_t one : labs.back().too_costly)
      code->not_compared.push_back(one_line(safe_text(hand_ins[one].hand_in->hand_in.shown, 500)) +
                                   fmt::format(": {}: takes sim_c++ more than 5 s", lab));
  }
  for (const std::string& problem : code->not_compared) print_note("not compared: " + problem);
  if (labs.empty()) throw UsageError(arguments.hand_ins.folder + ": expected code in the submissions, found none");
  fmt::print("{}", without_commands(similarity_text(labs, arguments.limits, static_cast<std::size_t>(arguments.top))));
  make_folder("--out", arguments.out + "/similarity");
  const std::string page = arguments.out + "/" + kSimilarityPage;
  write_file_atomically(page, similarity_page(labs, arguments.limits, code->not_compared));
  for (const std::string& sentence : what_a_match_does_not_show()) fmt::print("{}\n", sentence);
  fmt::print("{}\n", page);
  return code->not_compared.empty() ? ExitCode::kAllMatch : ExitCode::kNotJudged;
}

}  // namespace

void similar_command(cli::App& app) {
  auto& options = app.own(SimilarArguments());
  options.suite.add_to(app);
  options.hand_ins.add_to(app);
  app.add_text("--out", options.out, "DIR", "the page goes to DIR/similarity");
  app.add_integer("--top", options.top, {0, 1000}, "pairs of each lab that are printed");
  app.add_number("--share", options.limits.share, {0.01, 1},
                 "of a hand-in's code that must match for a pair to look at");
  app.add_integer("--jobs", options.jobs, {1, 1024}, "submissions that are read at a time");
  app.set_action([&] { return find_similar(options); });
}

}  // namespace lab::grading
