#include "grading/marks/ladder_marks.h"

#include <fmt/format.h>

#include <cstddef>

#include "grading/marks/shown_marks.h"

namespace lab::grading {
namespace {

std::string said_of_next(const RubricRung& rung, NeedState state, const Needs& needs) {
  const std::string lacking = needs.lacking(rung.needs, rung.any_of);
  if (state == NeedState::kNotJudged) return fmt::format("the next rung, '{}': not judged: {}", rung.title, lacking);
  return fmt::format("the next rung, '{}', {} {}", rung.title, state == NeedState::kPending ? "waits for" : "lacks",
                     lacking);
}

}  // namespace

MarkedItem mark_ladder(const RubricLadder& ladder, const Needs& needs) {
  MarkedItem item;
  item.id = ladder.id;
  item.title = ladder.title;
  item.kind = MarkedItem::Kind::kLadder;
  item.out_of = ladder.total;

  const auto state_of = [&](std::size_t rung) {
    return needs.state_of(ladder.rungs[rung].needs, ladder.rungs[rung].any_of);
  };
  std::size_t num_met = 0;
  while (num_met < ladder.rungs.size() && state_of(num_met) == NeedState::kMet) ++num_met;
  if (num_met == 0) {
    item.words.emplace_back("no rung is reached");
  } else {
    const RubricRung& reached = ladder.rungs[num_met - 1];
    item.marks = reached.marks;
    item.words.push_back(
        fmt::format("reached: '{}', {} of {}", reached.title, shown_marks(reached.marks), shown_marks(ladder.total)));
  }
  if (num_met == ladder.rungs.size()) {
    item.state = MarkedItem::State::kPassed;
    return item;
  }
  item.words.push_back(said_of_next(ladder.rungs[num_met], state_of(num_met), needs));
  // What a person could raise it to; or another grading, from the first rung on that was not judged.
  bool waits_for_grading = false;
  for (std::size_t rung = num_met; rung < ladder.rungs.size() && state_of(rung) != NeedState::kUnmet; ++rung) {
    waits_for_grading = waits_for_grading || state_of(rung) == NeedState::kNotJudged;
    const double more = ladder.rungs[rung].marks - item.marks;
    (waits_for_grading ? item.not_judged : item.pending) = waits_for_grading ? more - item.pending : more;
  }
  item.state = item.not_judged > 0 ? MarkedItem::State::kNotJudged
               : item.pending > 0  ? MarkedItem::State::kPending
               : item.marks > 0    ? MarkedItem::State::kPartly
                                   : MarkedItem::State::kFailed;
  return item;
}

MarkedItem mark_bonus(const RubricBonus& bonus, const Needs& needs) {
  MarkedItem item;
  item.id = bonus.id;
  item.title = bonus.title;
  item.kind = MarkedItem::Kind::kBonus;
  item.out_of = bonus.marks;
  item.bonus = true;
  switch (needs.state_of(bonus.needs, bonus.any_of)) {
    case NeedState::kMet:
      item.state = MarkedItem::State::kPassed;
      item.marks = bonus.marks;
      break;
    case NeedState::kPending:
      item.state = MarkedItem::State::kPending;
      item.pending = bonus.marks;
      item.words.push_back("waits for " + needs.lacking(bonus.needs, bonus.any_of));
      break;
    case NeedState::kNotJudged:
      item.state = MarkedItem::State::kNotJudged;
      item.not_judged = bonus.marks;
      item.words.push_back("not judged: " + needs.lacking(bonus.needs, bonus.any_of));
      break;
    case NeedState::kUnmet:
      item.state = MarkedItem::State::kFailed;
      item.words.push_back("lacks " + needs.lacking(bonus.needs, bonus.any_of));
  }
  return item;
}

}  // namespace lab::grading
