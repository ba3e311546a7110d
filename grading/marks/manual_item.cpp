#include "grading/marks/manual_item.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "common/course/starter/snippets.h"
#include "common/course/starter/starter_tree.h"
#include "grading/marks/shown_marks.h"
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

std::string version_of(const Rubric& rubric, const RubricManual& manual,
                       const std::map<std::string, std::string>& answers) {
  std::string all;
  for (const std::string& name : files_of(manual)) {
    const auto file = answers.find(name);
    if (file == answers.end()) continue;
    all += name + "\n" + (name == rubric.hand_in.snippets_in ? without_snippets(file->second) : file->second);
  }
  return all.empty() ? "nothing" : fingerprint_of(all);
}

MarkedItem mark_manual(const Rubric& rubric, const RubricManual& manual, const LabOutcome& outcome,
                       const std::vector<ManualMark>& by_hand) {
  MarkedItem item;
  item.id = manual.id;
  item.title = manual.title;
  item.kind = MarkedItem::Kind::kManual;
  item.out_of = manual.marks;
  item.version = version_of(rubric, manual, outcome.answers);
  for (const std::string& file : files_of(manual)) {
    if (outcome.answers.count(file) != 0) item.attached.push_back(file);
  }
  if (const auto answer = outcome.answers.find(manual.file); answer != outcome.answers.end())
    item.suggestion = suggestion_for(manual.id, answer->second);
  if (const auto log = outcome.evidence.find(manual.file); log != outcome.evidence.end())
    item.suggestion = fmt::format("{} {}", log->first, log->second);

  const ManualMark *mark = nullptr, *before = nullptr;
  for (const ManualMark& one : by_hand) {
    if (one.id == manual.id) (one.hand_in.empty() || one.hand_in == item.version ? mark : before) = &one;
  }
  if (mark != nullptr) {
    mark_by_hand(manual, *mark, item);
    return item;
  }
  if (item.attached.empty()) {
    item.words.push_back(fmt::format("not handed in: {}", fmt::join(files_of(manual), ", ")));
  } else {
    item.state = MarkedItem::State::kPending;
    item.pending = manual.marks;
    item.words.emplace_back("waits for a person");
  }
  item.marked_before = before != nullptr;
  if (before != nullptr) {
    item.words.push_back(fmt::format("an earlier version of it, which has changed since, was given {} of {}{}",
                                     shown_marks(before->marks), shown_marks(most_marks(manual)),
                                     before->comment.empty() ? "" : ": " + before->comment));
  }
  return item;
}

}  // namespace lab::grading
