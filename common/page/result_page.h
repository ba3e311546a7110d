#pragma once

#include <string>
#include <vector>

namespace lab::page {

/// How something stands: its colour, never its only sign.
enum class Standing { kRight, kWrong, kOpen };

/// Something that a check counts, next to what it may cost at most, both as text.
struct ShownCost {
  std::string what;  ///< "model time"
  std::string used, most;
  bool exceeded = false;
};

/// One check of a task that is not right.
struct ShownCheck {
  std::string name;
  Standing standing = Standing::kWrong;
  std::string label;               ///< "wrong", "costly", "not judged"
  std::string message;             ///< the first difference: where, expected, got
  std::string likely;              ///< its likely cause; may be empty
  std::vector<std::string> lines;  ///< what each rank was doing
  std::vector<ShownCost> costs;
  std::string timeline;  ///< what the ranks did, JSON by plot::to_json(); empty, or no such JSON: there is no picture
};

/// A task, or another line of the marks.
struct ShownItem {
  std::string id, title;
  Standing standing = Standing::kWrong;
  std::string label;                  ///< "passed", "failed", "not implemented"
  std::string marks, out_of, remark;  ///< in the table of marks; empty: it has none
  std::string short_text;             ///< next to the title
  /// What else was found; from the second line on as it is, such as a compiler's message with its source line.
  std::vector<std::string> findings;
  std::vector<ShownCheck> checks;
  std::vector<std::string> right_checks;  ///< names
  std::string hint;                       ///< a command that says more; may be empty
};

struct ShownFact {
  std::string what, value;
};

/// What a student reads about one lab: at home after `lab check`, or from the instructor.
struct ResultPage {
  std::string headline;  ///< "A9: 61 of 100"
  std::string title;     ///< of the lab
  std::string warning;   ///< what to know first; may be empty
  double share = 0;      ///< of the marks, or of the tasks: 0 to 1
  bool has_marks = false;
  std::vector<ShownItem> items;
  std::vector<std::string> notes;  ///< as findings
  std::vector<ShownFact> facts;
};

/// The page as one HTML file. Texts may hold anything: they are made safe (safe_text()), cut and escaped here.
std::string to_html(const ResultPage& page);

}  // namespace lab::page
