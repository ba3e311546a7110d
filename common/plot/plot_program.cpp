#include "common/plot/plot_program.h"

#include <fmt/format.h>

#include "common/base/errors.h"
#include "common/base/subprocess.h"

namespace lab::plot {

void require_gnuplot(const std::string& purpose) {
  if (!gnuplot_found()) throw UsageError(purpose + " needs gnuplot; hint: apt-get install gnuplot-nox");
}

bool gnuplot_found() {
  return is_in_path("gnuplot");
}

std::string run_gnuplot(const std::string& script, const std::string& purpose, std::chrono::milliseconds max_wait) {
  require_gnuplot(purpose);
  ProcessSpec gnuplot;
  gnuplot.argv = {"gnuplot", "-d"};  // without the user's own settings
  gnuplot.input = script;
  const ProgramEnd end = run_program(gnuplot, 1e-3 * static_cast<double>(max_wait.count()));
  if (!end.well() || end.out.empty())
    throw UsageError(fmt::format("{}: gnuplot {}{}", purpose, end.message(), end.well() ? ", without a picture" : ""));
  return end.out;
}

}  // namespace lab::plot
