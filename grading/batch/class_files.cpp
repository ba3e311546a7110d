#include "grading/batch/class_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "common/base/files.h"
#include "common/base/text.h"

namespace lab::grading {

ClassFiles::ClassFiles(const ClassOrder& order, const std::vector<std::string>& labs)
    : out_(order.out), with_pending_(order.with_pending), roster_(order.source.read_roster()) {
  if (roster_ != nullptr) {
    gradebook_ = std::make_unique<GradebookImport>(*roster_, labs, order.columns);
  } else if (!order.columns.empty()) {
    throw UsageError("--column: expected --roster FILE as well, which has the column");
  } else if (with_pending_) {
    throw UsageError("--with-pending: expected --roster FILE as well, a platform's gradebook to fill in");
  }
  make_folder("--out", out_);
}

std::size_t ClassFiles::write(std::vector<MarkedStudent> students, const MarkedLabs& labs,
                              const ClassOverview& overview) const {
  std::size_t num_open = 0;
  if (gradebook_ != nullptr) {
    const GradebookImport::Result result = write_gradebook(students, labs.asked);
    for (const auto& [place, why] : result.not_filled_in) students[place].open.push_back(why);
    if (result.is_unclear) ++num_open;
  }
  num_open += static_cast<std::size_t>(
      std::count_if(students.begin(), students.end(), [](const MarkedStudent& one) { return !one.open.empty(); }));
  write_file_atomically(out_ + "/marks.csv", marks_csv(roster(), students, labs.all));
  fmt::print("{}/marks.csv: {}{}\n", out_, counted(students.size(), "student"),
             num_open == 0 ? "" : fmt::format("; {} to look at or grade again", num_open));
  const bool compared = std::filesystem::exists(out_ + "/" + kSimilarityPage);
  write_file_atomically(out_ + "/index.html",
                        overview.html(roster(), students, labs.all, compared ? kSimilarityPage : ""));
  fmt::print("{}/index.html: all of it as a page\n", out_);
  return num_open;
}

/// Without a column to fill in, there is no file: not an earlier one either.
GradebookImport::Result ClassFiles::write_gradebook(const std::vector<MarkedStudent>& students,
                                                    const std::vector<std::string>& labs) const {
  GradebookImport::Result result = gradebook_->of(students, labs, with_pending_);
  const std::string file = out_ + "/" + gradebook_->file();
  if (!result.csv.empty()) {
    write_file_atomically(file, result.csv);
    fmt::print("{}: to be imported\n", file);
  } else if (!gradebook_->file().empty()) {
    std::filesystem::remove(file);
  }
  for (const std::string& note : result.notes) print_note(note);
  return result;
}

}  // namespace lab::grading
