#include "grading/marks/manual_item.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "grading/marks/suggestion.h"

namespace lab::grading {
namespace {

std::vector<std::string> files_of(const RubricManual& manual) {
  std::vector<std::string> files = {manual.file};
  files.insert(files.end(), manual.also.begin(), manual.also.end());
  return files;
}

void mark_by_hand(const RubricManual& manual, const ManualMark& mark, MarkedItem& item) {
  if (manual.marks > 0) item.marks = mark.marks;  // else a ladder counts it
  item.state = mark.marks >= most_marks(manual) ? MarkedItem::State::kPassed
               : mark.marks > 0                 ? MarkedItem::State::kPartly
                                                : MarkedItem::State::kFailed;
  if (!mark.comment.empty()) item.words.push_back(mark.comment);
}

}  // namespace

double most_marks(const RubricManual& manual) {
  return manual.marks > 0 ? manual.marks : 1;
}

MarkedItem mark_manual(const RubricManual& manual, const LabOutcome& outcome, const std::vector<ManualMark>& by_hand) {
  MarkedItem item;
  item.id = manual.id;
  item.title = manual.title;
  item.kind = MarkedItem::Kind::kManual;
  item.out_of = manual.marks;
  for (const std::string& file : files_of(manual)) {
    if (outcome.answers.count(file) != 0) item.attached.push_back(file);
  }
  if (const auto answer = outcome.answers.find(manual.file); answer != outcome.answers.end())
    item.suggestion = suggestion_for(manual.id, answer->second);

  const auto mark =
      std::find_if(by_hand.begin(), by_hand.end(), [&](const ManualMark& one) { return one.id == manual.id; });
  if (mark != by_hand.end()) {
    mark_by_hand(manual, *mark, item);
  } else if (item.attached.empty()) {
    item.words.push_back(fmt::format("not handed in: {}", fmt::join(files_of(manual), ", ")));
  } else {
    item.state = MarkedItem::State::kPending;
    item.pending = manual.marks;
    item.words.emplace_back("waits for a person");
  }
  return item;
}

}  // namespace lab::grading
