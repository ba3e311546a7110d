#include "grading/mutants/generated/source_mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "common/base/errors.h"
#include "common/base/text.h"
#include "grading/mutants/generated/rules.h"

namespace lab::grading::generated {
namespace {

/// Texts put between characters of another, outer ones around inner ones.
class Insertions {
 public:
  void around(std::size_t begin, std::size_t end, const std::string& before, const std::string& after) {
    const auto order = static_cast<std::ptrdiff_t>(all_.size());
    all_.push_back({begin, 1, static_cast<std::ptrdiff_t>(begin) - static_cast<std::ptrdiff_t>(end), order, before});
    all_.push_back({end, 0, static_cast<std::ptrdiff_t>(end) - static_cast<std::ptrdiff_t>(begin), -order, after});
  }

  std::string applied(const std::string& text) {
    std::sort(all_.begin(), all_.end(), [](const Insertion& a, const Insertion& b) {
      return std::tie(a.at, a.opens, a.extent, a.order) < std::tie(b.at, b.opens, b.extent, b.order);
    });
    std::string result;
    std::size_t at = 0;
    for (const Insertion& one : all_) {
      result += text.substr(at, one.at - at) + one.text;
      at = one.at;
    }
    return result + text.substr(at);
  }

 private:
  struct Insertion {
    std::size_t at;
    int opens;              ///< what ends here comes before what begins here
    std::ptrdiff_t extent;  ///< the longer one opens first, and closes last
    std::ptrdiff_t order;
    std::string text;
  };
  std::vector<Insertion> all_;
};

/// An edit of one of the mutants that are put into a text.
struct PlacedEdit {
  int id = 0;
  const Edit* edit = nullptr;
};

std::string line_directive(int line, const std::string& file) {
  return fmt::format("\n#line {} \"{}\"\n", line, file);
}

std::string mutants_line(int id) {
  return line_directive(id * kLinesOfMutant, "mutant");
}

/// What goes around a statement, or a slot of one, so that each of the edits can be chosen.
void add_choice(const Region& region, const std::string& file, std::size_t statement, int slot,
                const std::vector<PlacedEdit>& edits, Insertions& insertions) {
  const Statement& one = region.statements[statement];
  const TokenizedText& text = region.text;
  std::string before, after;
  if (slot < 0) {
    before = "{ ";
    for (const auto& [id, edit] : edits)
      before += fmt::format("{}if (lab_mutant({})) {{ {}\n}} else ", mutants_line(id), id, edit->text);
    before += line_directive(text[one.begin].line, file) + "{ ";
    insertions.around(text[one.begin].begin, text[one.end - 1].end, before, " } }");
    return;
  }
  const Slot& place = one.slots[static_cast<std::size_t>(slot)];
  std::string open = "(", close = ")";
  if (place.kind == Slot::Kind::kCondition) open = "static_cast<bool>(";
  if (place.kind == Slot::Kind::kIncrement) open = "static_cast<void>(";
  if (place.kind == Slot::Kind::kBraces) open = one.type, close = "";
  for (const auto& [id, edit] : edits)
    before += fmt::format("{}lab_mutant({}) ? {}{}\n{} : ", mutants_line(id), id, open, edit->text, close);
  before = "(" + before + line_directive(text[place.begin].line, file) + open;
  insertions.around(text[place.begin].begin, text[place.end - 1].end, before, close + ")");
}

/// What is done before or after a statement by one mutant.
void add_extra(const Region& region, const std::string& file, const PlacedEdit& placed, Insertions& insertions) {
  const Statement& one = region.statements[placed.edit->statement];
  const TokenizedText& text = region.text;
  const bool before = placed.edit->place == Edit::Place::kBefore;
  const Token& last = text[one.end - 1];
  const std::string extra =
      fmt::format("{}if (lab_mutant({})) {{ {}\n}}{}", mutants_line(placed.id), placed.id, placed.edit->text,
                  line_directive(before ? text[one.begin].line : last.line, file));
  insertions.around(text[one.begin].begin, last.end, before ? extra : "", before ? "" : extra);
}

/// Makes the variables of a declaration assignable, or initialised at run time.
void hide_word(const Region& region, std::size_t statement, const char* word, const char* instead,
               Insertions& insertions) {
  const Statement& one = region.statements[statement];
  for (std::size_t i = one.begin; i < one.end && !region.text.is(i, "="); ++i) {
    if (region.text.is(i, word))
      insertions.around(region.text[i].begin, region.text[i].end, fmt::format("{}/*", instead), "*/");
  }
}

}  // namespace

MutatedSource::MutatedSource(const std::string& file, const std::string& text, const std::set<std::string>& tasks,
                             int first_id, const std::vector<WrittenChange>& written)
    : file_(file), text_(text), regions_(regions_of(text_, tasks)), first_id_(first_id) {
  for (const WrittenChange& change : written) add_written(change);
  for (std::size_t index = 0; index < regions_.size(); ++index) {
    for (const Rule& rule : rules()) {
      for (Proposal& proposal : rule.find(regions_[index])) add(index, rule.name, std::move(proposal));
    }
  }
}

void MutatedSource::add(std::size_t region, const std::string& rule, Proposal proposal) {
  SourceMutant mutant;
  mutant.id = first_id_ + static_cast<int>(mutants_.size());
  mutant.file = file_;
  mutant.line = text_[proposal.token].line;
  mutant.line_text = one_line(lines_of(text_.text())[static_cast<std::size_t>(mutant.line - 1)]);
  mutant.task = regions_[region].task;
  mutant.rule = rule;
  mutant.what = one_line(proposal.what);
  mutant.region = region;
  mutant.edits = std::move(proposal.edits);
  if (made_.insert(plain(mutant)).second) mutants_.push_back(std::move(mutant));
}

void MutatedSource::add_written(const WrittenChange& change) {
  int times = 0;
  for (std::size_t index = 0; index < regions_.size(); ++index) {
    const Region& region = regions_[index];
    if (!change.task.empty() && change.task != region.task) continue;
    for (std::size_t begin = region.begin; begin < region.end; ++begin) {
      if (text_.text().compare(text_[begin].begin, change.replace.size(), change.replace) != 0) continue;
      std::size_t end = begin;
      while (end < region.end && text_[end].end <= text_[begin].begin + change.replace.size()) ++end;
      const std::optional<Edit> edit = region.replaced(begin, end, change.with);
      if (!edit) throw UsageError(fmt::format("{}: '{}' is not within one statement", change.place, change.replace));
      if (++times == 1) add(index, kWrittenRule, {begin, change.what, {*edit}});
    }
  }
  if (times != 1)
    throw UsageError(fmt::format("{}: expected '{}' once between the markers of {}, found it {} times", change.place,
                                 change.replace, file_, times));
}

std::pair<int, int> MutatedSource::lines_of_edits(const SourceMutant& mutant) const {
  std::pair<int, int> lines = {mutant.line, mutant.line};
  for (const Edit& edit : mutant.edits) {
    const Statement& one = regions_[mutant.region].statements[edit.statement];
    lines.first = std::min(lines.first, text_[one.begin].line);
    lines.second = std::max(lines.second, text_[one.end - 1].line);
  }
  return lines;
}

std::string MutatedSource::plain(const SourceMutant& mutant) const {
  struct Change {
    std::size_t begin, end;
    std::string text;
  };
  const Region& region = regions_[mutant.region];
  std::vector<Change> changes;
  for (const Edit& edit : mutant.edits) {
    const Statement& one = region.statements[edit.statement];
    std::size_t begin = text_[one.begin].begin, end = text_[one.end - 1].end;
    if (edit.assignable) {
      for (std::size_t i = one.begin; text_.is(i, "const"); ++i) changes.push_back({text_[i].begin, text_[i].end, ""});
    }
    if (edit.place == Edit::Place::kBefore) end = begin;
    if (edit.place == Edit::Place::kAfter) begin = end;
    if (edit.slot >= 0) {
      const Slot& slot = one.slots[static_cast<std::size_t>(edit.slot)];
      begin = text_[slot.begin].begin;
      end = text_[slot.end - 1].end;
    }
    // A statement in the place of one that has no braces around it; or none.
    const bool whole = edit.place == Edit::Place::kInstead && edit.slot < 0;
    const bool alone = whole && !one.listed;
    changes.push_back({begin, end, alone ? "{ " + edit.text + " }" : edit.text});
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.begin > b.begin; });
  std::string text = text_.text();
  for (const Change& change : changes) text.replace(change.begin, change.end - change.begin, change.text);
  return text;
}

std::string MutatedSource::schemata(const std::vector<const SourceMutant*>& some) const {
  Insertions insertions;
  using Place = std::pair<std::size_t, int>;  // statement and slot
  for (std::size_t index = 0; index < regions_.size(); ++index) {
    const Region& region = regions_[index];
    std::map<Place, std::vector<PlacedEdit>> choices;
    std::set<std::size_t> chosen_at_run_time, assigned;
    for (const SourceMutant* mutant : some) {
      if (mutant->region != index) continue;
      for (const Edit& edit : mutant->edits) {
        if (edit.place == Edit::Place::kInstead) {
          choices[{edit.statement, edit.slot}].push_back({mutant->id, &edit});
        } else {
          add_extra(region, file_, {mutant->id, &edit}, insertions);
        }
        if (edit.slot >= 0) chosen_at_run_time.insert(edit.statement);
        if (edit.assignable) assigned.insert(edit.statement);
      }
    }
    for (const auto& [place, edits] : choices) add_choice(region, file_, place.first, place.second, edits, insertions);
    for (const std::size_t statement : chosen_at_run_time)
      hide_word(region, statement, "constexpr", "const", insertions);
    for (const std::size_t statement : assigned) hide_word(region, statement, "const", "", insertions);
  }
  return "bool lab_mutant(int id) noexcept;\n#line 1\n" + insertions.applied(text_.text());
}

}  // namespace lab::grading::generated
