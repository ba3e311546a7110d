#include "grading/marks/shown_marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "common/base/lab_names.h"
#include "common/course/rubric/rubric_check.h"

namespace lab::grading {
namespace {

/// "a9_collectives" is A9; a name that contains capitals, such as optC, keeps its case.
std::string shown_name(const std::string& lab) {
  std::string name = shorten_name(lab);
  const auto is_upper = [](unsigned char c) { return std::isupper(c) != 0; };
  if (std::any_of(name.begin(), name.end(), is_upper)) return name;
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace

std::string shown_marks(double marks) {
  // Sums of tenths and thirds may be a few bits too small.
  return fmt::format("{}", std::floor(marks * 10 + 1e-6) / 10);
}

std::string headline(const LabMarks& marks) {
  double bonus = 0;
  for (const MarkedItem& item : marks.items) bonus += item.bonus ? item.marks : 0;
  std::string line =
      fmt::format("{}: {} of {}", shown_name(marks.lab), shown_marks(marks.marks), shown_marks(marks.total));
  if (bonus > 0) line += fmt::format(" ({} of them a bonus)", shown_marks(bonus));
  if (marks.pending > 0) line += fmt::format(", {} pending", shown_marks(marks.pending));
  if (marks.not_judged > 0) line += fmt::format(", {} not judged", shown_marks(marks.not_judged));
  return line;
}

bool has_no_marks(const MarkedItem& item) {
  return item.worth == Worth::kNotJudged && item.marks == 0;
}

std::vector<std::string> waiting_for(const MarkedItem& item) {
  std::vector<std::string> waits;
  if (item.pending > 0) waits.push_back(shown_marks(item.pending) + " wait for a person");
  if (item.not_judged > 0) waits.push_back(shown_marks(item.not_judged) + " wait for another grading");
  return waits;
}

}  // namespace lab::grading
