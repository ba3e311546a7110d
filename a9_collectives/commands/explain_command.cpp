#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a9_collectives/commands/commands.h"
#include "a9_collectives/commands/explanation.h"
#include "common/base/files.h"
#include "common/plot/plot.h"
#include "common/tensor/compute_threads.h"

namespace lab::a9 {
namespace {

struct ExplainOptions {
  std::string name;
  std::string algorithm;
  int num_ranks = 4;
  std::string out_dir = "out";
  std::string file;
  std::string format;
  bool text = false;
};

std::string known_names() {
  std::vector<std::string> names;
  for (const Collective& collective : catalogue()) names.push_back(collective.name);
  return fmt::format("{} or schematic", fmt::join(names, ", "));
}

std::vector<const Algorithm*> list_algorithms(const Collective& collective, const ExplainOptions& options) {
  if (options.algorithm.empty()) return {&small_message_algorithm(collective, options.num_ranks)};
  if (options.algorithm != "all") return {&algorithm_named(collective, options.algorithm)};
  std::vector<const Algorithm*> all;
  for (const Algorithm& algorithm : collective.algorithms) all.push_back(&algorithm);
  return all;
}

/// The pictures of one algorithm. The handout's name is that of the default.
std::vector<std::string> files_for(const Collective& collective, const Algorithm& algorithm,
                                   const ExplainOptions& options) {
  if (!options.file.empty()) return {options.file};
  const std::string ending_name = options.algorithm.empty() ? "schematic" : algorithm.name;
  const std::string stem = fmt::format("{}/{}_{}", options.out_dir, collective.name, ending_name);
  if (!options.format.empty()) return {stem + "." + options.format};
  return {stem + ".png", stem + ".pdf"};
}

void check_together(const cli::App& app, const ExplainOptions& options) {
  if (options.text && (app.given("--out") || app.given("--file") || app.given("--format")))
    throw UsageError("explain: --text prints and draws nothing; leave --out, --file and --format out");
  if (options.file.empty()) return;
  if (options.algorithm == "all")
    throw UsageError("explain: --file names one picture, --algorithm all draws several; use --out DIR");
  if (app.given("--out") || app.given("--format"))
    throw UsageError("explain: --file says where and in which format; leave --out and --format out");
}

/// What `name` means. A starter draws all_to_all on any number of ranks but the schematic's.
const Collective& explained(const ExplainOptions& options) {
  const Collective& collective = collective_named(options.name == "schematic" ? "all_to_all" : options.name);
  // BEGIN SOLUTION a9.schematic
  // STUB if (collective.name == "all_to_all" && options.num_ranks == 4)
  // STUB   throw UsageError("explain: all_to_all on 4 ranks is the schematic that you draw; hint: --nproc 3");
  // END SOLUTION a9.schematic
  return collective;
}

ExitCode explain_all(const ExplainOptions& options) {
  use_threads(1);
  const Collective& collective = explained(options);
  const std::vector<const Algorithm*> algorithms = list_algorithms(collective, options);
  if (!options.text && options.file.empty()) make_folder("--out", options.out_dir);
  for (const Algorithm* algorithm : algorithms) {
    const std::vector<std::string> files = files_for(collective, *algorithm, options);
    if (!options.text) plot::check_timeline_name(files.front());
    const Explanation explanation = explain(collective, *algorithm, options.num_ranks);
    if (options.text) {
      fmt::print("{}{}", algorithm == algorithms.front() ? "" : "\n", explanation_text(explanation));
      continue;
    }
    const plot::Timeline diagram = explain_diagram(explanation);
    for (const std::string& file : files) {
      plot::draw(diagram, file);
      fmt::print("{}\n", file);
    }
  }
  return ExitCode::kAllMatch;
}

}  // namespace

void explain_command(cli::App& app) {
  auto& options = app.own(ExplainOptions());
  app.add_argument("NAME", options.name, known_names());
  app.add_text("--algorithm", options.algorithm, "NAME",
               "one algorithm, or all; if not given, the one for small messages");
  app.add_integer("--nproc", options.num_ranks, {2, kMostProvenanceRanks}, "ranks");
  app.add_text("--out", options.out_dir, "DIR", "folder of the pictures: <collective>_<algorithm>, or _schematic");
  app.add_text("--file", options.file, "FILE", "the one picture's name (.png, .pdf, .svg)");
  app.add_choice("--format", options.format, {"png", "pdf", "svg"}, "one format instead of png and pdf");
  app.add_flag("--text", options.text, "print the steps instead of drawing them");
  app.set_action([&] {
    check_together(app, options);
    return explain_all(options);
  });
}

}  // namespace lab::a9
