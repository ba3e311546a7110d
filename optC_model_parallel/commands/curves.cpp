#include "optC_model_parallel/commands/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <numeric>

#include "common/base/files.h"
#include "common/plot/plot.h"

namespace lab::optc {
namespace {

using Numbers = std::vector<double>;

constexpr std::size_t kMostPoints = 40;  ///< of a run in a picture: more would hide each other

struct Column {
  std::string name;
  const Numbers& numbers;
};

std::string render_table(const std::string& what_is_counted, const std::vector<Column>& columns) {
  std::string text = what_is_counted;
  std::size_t num_rows = 0;
  for (const Column& column : columns) {
    text += ',' + column.name;
    num_rows = std::max(num_rows, column.numbers.size());
  }
  text += '\n';
  for (std::size_t row = 0; row < num_rows; ++row) {
    text += std::to_string(row + 1);
    for (const Column& column : columns)
      text += row < column.numbers.size() ? fmt::format(",{:.17g}", column.numbers[row]) : ",";
    text += '\n';
  }
  return text;
}

/// One run's curve, and the steps that its numbers belong to.
struct Curve {
  Numbers steps;
  Numbers values;
};

Curve loss_curve(const TrainingRecord& record) {
  Curve curve{Numbers(record.losses.size()), record.losses};
  std::iota(curve.steps.begin(), curve.steps.end(), 1.0);
  return curve;
}

/// In percent.
Curve accuracy_curve(const TrainingRecord& record) {
  Curve curve;
  const auto num_epochs = static_cast<double>(record.accuracies.size());
  const double steps_per_epoch = static_cast<double>(record.losses.size()) / num_epochs;
  for (const double accuracy : record.accuracies) {
    curve.values.push_back(100 * accuracy);
    curve.steps.push_back(static_cast<double>(curve.values.size()) * steps_per_epoch);
  }
  return curve;
}

/// A run's index among the runs that are not references.
struct Place {
  std::size_t index = 0;
  std::size_t count = 1;
};

/// All points, or an evenly spaced selection of many, offset from those of the earlier runs.
plot::Series make_points(const Curve& curve, const Place& run) {
  plot::Series series;
  series.line = false;
  const std::size_t apart = (curve.values.size() + kMostPoints - 1) / kMostPoints;
  for (std::size_t i = run.index * apart / run.count; i < curve.values.size(); i += apart) {
    series.x.push_back(curve.steps[i]);
    series.y.push_back(curve.values[i]);
  }
  return series;
}

plot::Series make_line(const Curve& curve) {
  plot::Series series;
  series.points = curve.values.size() == 1;  // one point makes no line
  series.x = curve.steps;
  series.y = curve.values;
  return series;
}

/// One series per run. A reference is grey; where there are several, it has the paler colour of the run it precedes.
std::vector<plot::Series> make_series(const std::vector<NamedRecord>& runs,
                                      Curve (*choose_curve)(const TrainingRecord&)) {
  const auto num_references = static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [](const NamedRecord& run) { return run.reference; }));
  Place place{0, runs.size() - num_references};
  std::vector<plot::Series> all;
  for (const NamedRecord& run : runs) {
    const plot::Colour colour = plot::colour(static_cast<int>(place.index));
    const Curve curve = choose_curve(run.record);
    all.push_back(run.reference ? make_line(curve) : make_points(curve, place));
    all.back().name = run.name;
    all.back().colour = !run.reference ? colour : num_references == 1 ? plot::kGrey : plot::tint(colour, 0.5);
    if (!run.reference) ++place.index;
  }
  return all;
}

/// Shifts the points of runs with the same reference by a point's width, so that they do not hide each other.
void put_side_by_side(plot::Chart& chart) {
  constexpr double kPointWidth = 0.01;  // of the drawing's
  double num_runs = 0, last_step = 0;
  for (const plot::Series& series : chart.series) {
    num_runs += series.line ? 0 : 1;
    for (const double step : series.x) last_step = std::max(last_step, step);
  }
  if (num_runs < 2 || static_cast<double>(chart.series.size()) - num_runs > 1) return;
  double move = -kPointWidth * last_step * (num_runs - 1) / 2;
  for (plot::Series& series : chart.series) {
    if (series.line) continue;
    for (double& step : series.x) step += move;
    move += kPointWidth * last_step;
  }
  chart.x.label += " (points of several runs side by side)";
}

bool has_points(const plot::Chart& chart) {
  return std::any_of(chart.series.begin(), chart.series.end(), [](const auto& series) { return !series.x.empty(); });
}

plot::Chart loss_chart(const std::vector<NamedRecord>& runs) {
  plot::Chart chart;
  chart.title = "Training loss of every step";
  chart.x = {"step"};
  chart.y = {"mean cross-entropy of the batch"};
  chart.series = make_series(runs, loss_curve);
  return chart;
}

plot::Chart accuracy_chart(const std::vector<NamedRecord>& runs) {
  plot::Chart chart;
  chart.title = "Test accuracy after every epoch";
  chart.x = {"step"};
  chart.y = {"test images classified right, %"};
  chart.series = make_series(runs, accuracy_curve);
  put_side_by_side(chart);
  return chart;
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
  const auto draw = [&](const plot::Chart& chart, const char* what) {
    if (!has_points(chart)) return;
    for (const char* ending : {".png", ".svg"}) plot::draw(chart, written.emplace_back(start + what + ending));
  };
  draw(loss_chart(runs), "loss");
  draw(accuracy_chart(runs), "accuracy");
  return written;
}

}  // namespace lab::optc
