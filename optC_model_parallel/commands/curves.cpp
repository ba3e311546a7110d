#include "optC_model_parallel/commands/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "common/base/files.h"
#include "common/plot/plot.h"

namespace lab::optc {
namespace {

using Numbers = std::vector<double>;

using Column = std::pair<std::string, const Numbers&>;

std::string render_table(const std::string& what_is_counted, const std::vector<Column>& columns) {
  std::string text = what_is_counted;
  std::size_t num_rows = 0;
  for (const auto& [name, numbers] : columns) {
    text += ',' + name;
    num_rows = std::max(num_rows, numbers.size());
  }
  text += '\n';
  for (std::size_t row = 0; row < num_rows; ++row) {
    text += std::to_string(row + 1);
    for (const auto& [name, numbers] : columns)
      text += row < numbers.size() ? fmt::format(",{:.17g}", numbers[row]) : ",";
    text += '\n';
  }
  return text;
}

/// One series per run, over steps: a reference as a line, a run as points. Of many points every so many are shown, not
/// the same ones of two runs, and points that several runs have at the same step are moved apart. A reference is grey;
/// where there are several, it has the paler colour of the run it precedes.
std::vector<plot::Series> make_series(const std::vector<NamedRecord>& runs, Numbers TrainingRecord::*curve,
                                      double factor) {
  constexpr std::size_t kMostPoints = 40;  // of a run: more would hide each other
  constexpr double kPointWidth = 0.01;     // of the drawing's
  const auto is_reference = [](const NamedRecord& run) { return run.reference; };
  const auto num_references = std::count_if(runs.begin(), runs.end(), is_reference);
  const std::size_t num_runs = runs.size() - static_cast<std::size_t>(num_references);
  std::size_t index = 0;  // of the run
  std::vector<plot::Series> all;
  for (const NamedRecord& run : runs) {
    const Numbers& values = run.record.*curve;
    const auto num_steps = static_cast<double>(run.record.losses.size());
    const std::size_t apart = run.reference ? 1 : (values.size() + kMostPoints - 1) / kMostPoints;
    const double move =
        run.reference || apart > 1 ? 0 : kPointWidth * num_steps * (static_cast<double>(index) - (num_runs - 1) / 2.0);
    plot::Series series;
    series.name = run.name;
    series.line = run.reference;
    series.points = !run.reference || values.size() == 1;  // one point makes no line
    const plot::Colour colour = plot::colour(static_cast<int>(index));
    series.colour = !run.reference ? colour : num_references == 1 ? plot::kGrey : plot::tint(colour, 0.5);
    for (std::size_t i = run.reference ? 0 : index * apart / num_runs; i < values.size(); i += apart) {
      series.x.push_back(static_cast<double>(i + 1) * num_steps / static_cast<double>(values.size()) + move);
      series.y.push_back(factor * values[i]);
    }
    all.push_back(std::move(series));
    if (!run.reference) ++index;
  }
  return all;
}

}  // namespace

std::vector<std::string> write_curves(const std::vector<NamedRecord>& runs, const std::string& folder,
                                      const std::string& prefix) {
  const std::string start = fmt::format("{}/{}_", folder, prefix);
  std::vector<std::string> written;
  std::vector<Column> of_steps, of_epochs;
  for (const NamedRecord& run : runs) {
    of_steps.push_back({run.name, run.record.losses});
    of_epochs.push_back({run.name + " test loss", run.record.test_losses});
    of_epochs.push_back({run.name + " accuracy", run.record.accuracies});
  }
  write_file_atomically(written.emplace_back(start + "steps.csv"), render_table("step", of_steps));
  write_file_atomically(written.emplace_back(start + "epochs.csv"), render_table("epoch", of_epochs));
  const std::string missing = plot::missing_program();
  if (!missing.empty()) {
    fmt::print(stderr, "optC_model_parallel: no pictures of the curves in {}: {}\n", folder, missing);
    return written;
  }
  const auto draw = [&](const char* what, const char* title, const char* y_label, Numbers TrainingRecord::*curve,
                        double factor) {
    plot::Chart chart;
    chart.title = title;
    chart.x = {"step"};
    chart.y = {y_label};
    chart.series = make_series(runs, curve, factor);
    if (std::all_of(chart.series.begin(), chart.series.end(), [](const auto& series) { return series.x.empty(); }))
      return;
    for (const char* ending : {".png", ".svg"}) plot::draw(chart, written.emplace_back(start + what + ending));
  };
  draw("loss", "Training loss of every step", "mean cross-entropy of the batch", &TrainingRecord::losses, 1);
  draw("accuracy", "Test accuracy after every epoch", "test images classified right, %", &TrainingRecord::accuracies,
       100);
  return written;
}

}  // namespace lab::optc
