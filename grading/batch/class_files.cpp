#include "grading/batch/class_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/base/files.h"
#include "common/base/text.h"
#include "grading/similarity/similarity_pages.h"

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

void ClassFiles::write(const std::vector<MarkedStudent>& students, const std::vector<std::string>& labs,
                       const ClassOverview& overview, std::size_t num_open) const {
  write_file_atomically(out_ + "/marks.csv", marks_csv(roster(), students, labs));
  fmt::print("{}/marks.csv: {}{}\n", out_, counted(students.size(), "student"),
             num_open == 0 ? "" : fmt::format("; {} to look at or grade again", num_open));
  if (gradebook_ != nullptr) write_gradebook(students, labs);
  const bool compared = std::filesystem::exists(out_ + "/" + kSimilarityPage);
  write_file_atomically(out_ + "/index.html", overview.html(roster(), students, labs, compared ? kSimilarityPage : ""));
  fmt::print("{}/index.html: all of it as a page\n", out_);
}

/// Without a column to fill in, there is no file: not an earlier one either.
void ClassFiles::write_gradebook(const std::vector<MarkedStudent>& students,
                                 const std::vector<std::string>& labs) const {
  const GradebookImport::Result result = gradebook_->of(students, labs, with_pending_);
  const std::string file = out_ + "/" + gradebook_->file();
  if (!result.csv.empty()) {
    write_file_atomically(file, result.csv);
    fmt::print("{}: to be imported\n", file);
  } else if (!gradebook_->file().empty()) {
    std::filesystem::remove(file);
  }
  for (const std::string& note : result.notes) say_note(note);
}

}  // namespace lab::grading
