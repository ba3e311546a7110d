#include "common/course/rubric/rubric_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/api/errors.h"
#include "common/base/lab_names.h"
#include "common/base/text.h"

namespace lab {
namespace {

constexpr std::size_t kHintLevels = 3;
constexpr int kMostRanks = 64;

class RubricCheck {
 public:
  RubricCheck(const Rubric& rubric, const RubricPlace& place) : rubric_(rubric), place_(place) {}

  void check() {
    collect_ids();
    for (const RubricTask& task : rubric_.tasks) check_task(task);
    for (const RubricManual& manual : rubric_.manuals) check_manual(manual);
    for (const RubricLadder& ladder : rubric_.ladders) check_ladder(ladder);
    for (const RubricBonus& bonus : rubric_.bonuses) {
      require(bonus.marks > 0, bonus.id, fmt::format("marks: expected more than 0, got {}", bonus.marks));
      require(!bonus.needs.empty() || !bonus.any_of.empty(), bonus.id, "expected needs or any_of, got neither");
      check_conditions(bonus.id, bonus.needs);
      check_conditions(bonus.id, bonus.any_of);
    }
    for (const RubricTask& task : rubric_.tasks) {
      const std::vector<std::string> dependents = rubric_.find_dependents(task.id);
      for (const std::string& need : task.needs) {
        require(need != task.id && std::find(dependents.begin(), dependents.end(), need) == dependents.end(), task.id,
                fmt::format("needs: {} needs {}, and that needs it in turn", task.id, need));
      }
    }
    check_hand_in();
    check_judging();
    check_total("total", rubric_.total, marks_without_bonus(rubric_));
  }

 private:
  [[noreturn]] void refuse(const std::string& id, const std::string& what) const {
    const std::string item = ids_.count(id) != 0 ? id + ": " : "";
    throw UsageError(fmt::format("{}: {}{}", place_(id), item, what));
  }

  void require(bool right, const std::string& id, const std::string& what) const {
    if (!right) refuse(id, what);
  }

  void add_id(const std::string& id) {
    const std::string begin = shorten_name(rubric_.lab) + ".";
    require(id.size() > begin.size() && id.compare(0, begin.size(), begin) == 0 &&
                id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") ==
                    std::string::npos,
            id, fmt::format("id: expected {}NAME, of letters, digits and underscores, got '{}'", begin, id));
    require(ids_.insert(id).second, id, "this id is used twice");
  }

  void collect_ids() {
    for (const RubricTask& task : rubric_.tasks) add_id(task.id);
    for (const RubricManual& manual : rubric_.manuals) add_id(manual.id);
    for (const RubricLadder& ladder : rubric_.ladders) add_id(ladder.id);
    for (const RubricBonus& bonus : rubric_.bonuses) add_id(bonus.id);
  }

  [[noreturn]] void refuse_need(const std::string& id, const std::string& need,
                                const std::vector<std::string>& there_is) const {
    refuse(id, fmt::format("needs '{}', which is not there{}", need, did_you_mean(need, there_is)));
  }

  std::vector<std::string> task_ids() const {
    std::vector<std::string> ids;
    for (const RubricTask& task : rubric_.tasks) ids.push_back(task.id);
    return ids;
  }

  void check_task(const RubricTask& task) const {
    require(!task.title.empty(), task.id, "title: expected some words, got nothing");
    require(std::isfinite(task.marks) && task.marks >= 0, task.id,
            fmt::format("marks: expected 0 or more, got {}", task.marks));
    require(task.hints.size() == kHintLevels && std::count(task.hints.begin(), task.hints.end(), "") == 0, task.id,
            fmt::format("hints: expected {} of them, got {}", kHintLevels, task.hints.size()));
    for (const std::string& need : task.needs) {
      if (rubric_.find_task(need) == nullptr) refuse_need(task.id, need, task_ids());
    }
    require(is_inner_path(task.file), task.id,
            fmt::format("file: expected a path inside the lab's folder, got '{}'", task.file));
    require(is_below_any(task.file, rubric_.hand_in.sources), task.id,
            fmt::format("file: '{}' is not among the sources of [hand_in]", task.file));
    for (const std::string& path : task.stand_in) {
      require(is_inner_path(path), task.id,
              fmt::format("stand_in: expected a path inside the lab's folder, got '{}'", path));
      require(!is_below_any(task.file, {path}), task.id,
              fmt::format("stand_in: '{}' would take the place of this task's own file", path));
    }
    require(task.stand_in.empty() || !task.needs.empty(), task.id, "stand_in: expected needs that it stands in for");
    for (const std::string& path : task.judges_cost) {
      require(std::find(task.stand_in.begin(), task.stand_in.end(), path) != task.stand_in.end(), task.id,
              fmt::format("judges_cost: expected entries of stand_in, got '{}'", path));
    }
  }

  void check_manual(const RubricManual& manual) const {
    require(!manual.title.empty(), manual.id, "title: expected some words, got nothing");
    require(std::isfinite(manual.marks) && manual.marks >= 0, manual.id,
            fmt::format("marks: expected 0 or more, got {}", manual.marks));
    const std::vector<std::string>& answers = rubric_.hand_in.answers;
    require(std::find(answers.begin(), answers.end(), manual.file) != answers.end(), manual.id,
            fmt::format("file: '{}' is not among the answers of [hand_in]", manual.file));
    for (const std::string& path : manual.also) {
      require(is_inner_path(path), manual.id,
              fmt::format("also: expected a path inside the lab's folder, got '{}'", path));
    }
    std::set<std::string> names;
    for (const RubricNumber& number : manual.numbers) {
      require(manual.question.find("{" + number.name + "}") != std::string::npos, manual.id,
              fmt::format("numbers: expected {{{}}} in its question", number.name));
      require(names.insert(number.name).second, manual.id, fmt::format("numbers: '{}' is there twice", number.name));
      require(number.from <= number.handout && number.handout <= number.to, manual.id,
              fmt::format("numbers: '{}': expected from <= handout <= to, got {}, {}, {}", number.name, number.from,
                          number.handout, number.to));
    }
  }

  /// A name without a dot is that of a single check, known only to the lab's cases.
  void check_conditions(const std::string& id, const std::vector<std::string>& conditions) const {
    std::vector<std::string> there_is = task_ids();
    for (const RubricManual& manual : rubric_.manuals) there_is.push_back(manual.id);
    for (const std::string& condition : conditions) {
      if (condition.find('.') == std::string::npos && !condition.empty()) continue;
      if (std::find(there_is.begin(), there_is.end(), condition) == there_is.end()) {
        refuse_need(id, condition, there_is);
      }
    }
  }

  void check_ladder(const RubricLadder& ladder) const {
    require(!ladder.rungs.empty(), ladder.id, "expected [[ladder.rung]], got none");
    double below = 0;
    for (const RubricRung& rung : ladder.rungs) {
      require(rung.marks > below, ladder.id,
              fmt::format("rung '{}': expected more marks than the rung below has ({}), got {}", rung.title, below,
                          rung.marks));
      require(!rung.needs.empty() || !rung.any_of.empty(), ladder.id,
              fmt::format("rung '{}': expected needs or any_of, got neither", rung.title));
      below = rung.marks;
      check_conditions(ladder.id, rung.needs);
      check_conditions(ladder.id, rung.any_of);
    }
    require(below == ladder.total, ladder.id,
            fmt::format("total: expected the marks of the highest rung, {}, got {}", below, ladder.total));
  }

  void check_hand_in() const {
    require(!rubric_.hand_in.sources.empty(), "hand_in", "sources: expected the files that students write, got none");
    for (const auto* paths : {&rubric_.hand_in.sources, &rubric_.hand_in.answers}) {
      for (const std::string& path : *paths) {
        require(is_inner_path(path), "hand_in", fmt::format("expected a path inside the lab's folder, got '{}'", path));
      }
    }
    const std::string& snippets_in = rubric_.hand_in.snippets_in;
    require(snippets_in.empty() || is_below_any(snippets_in, rubric_.hand_in.answers), "hand_in",
            fmt::format("snippets_in: '{}' is not among the answers", snippets_in));
  }

  void check_sizes(const std::string& key, const std::optional<std::vector<int>>& given) const {
    if (!given) return;
    const std::vector<int>& sizes = *given;
    require(std::set<int>(sizes.begin(), sizes.end()).size() == sizes.size(), "judging",
            key + ": expected world sizes, each once");
    for (const int size : sizes) {
      require(size >= 1 && size <= kMostRanks, "judging",
              fmt::format("{}: expected world sizes from 1 to {}, got {}", key, kMostRanks, size));
    }
  }

  void check_judging() const {
    require(!rubric_.judging.ranks || !rubric_.judging.ranks->empty(), "judging", "ranks: expected some world sizes");
    check_sizes("ranks", rubric_.judging.ranks);
    check_sizes("cheap_ranks", rubric_.judging.cheap_ranks);
    for (const auto& [name, seconds] : {std::pair("stall_seconds", rubric_.judging.stall_seconds),
                                        std::pair("budget_seconds", rubric_.judging.budget_seconds)})
      require(seconds > 0, "judging", fmt::format("{}: expected more than 0, got {}", name, seconds));
  }

  void check_total(const char* key, double total, double sum) const {
    constexpr double kRounding = 1e-9;  // of shares such as 0.1
    require(std::abs(total - sum) < kRounding, "",
            fmt::format("{}: expected {}, to which the marks add up, got {}", key, sum, total));
  }

  const Rubric& rubric_;
  const RubricPlace& place_;
  std::set<std::string> ids_;
};

}  // namespace

double marks_without_bonus(const Rubric& rubric) {
  double sum = 0;
  for (const RubricTask& task : rubric.tasks) sum += task.bonus ? 0 : task.marks;
  for (const RubricManual& manual : rubric.manuals) sum += manual.bonus ? 0 : manual.marks;
  for (const RubricLadder& ladder : rubric.ladders) sum += ladder.total;
  return sum;
}

double bonus_marks(const Rubric& rubric) {
  double sum = 0;
  for (const RubricTask& task : rubric.tasks) sum += task.bonus ? task.marks : 0;
  for (const RubricManual& manual : rubric.manuals) sum += manual.bonus ? manual.marks : 0;
  for (const RubricBonus& bonus : rubric.bonuses) sum += bonus.marks;
  return sum;
}

void check_rubric(const Rubric& rubric, const RubricPlace& place) {
  RubricCheck(rubric, place).check();
}

bool is_inner_path(const std::string& path) {
  if (path.empty() || path.front() == '/' || path.back() == '/') return false;
  const std::string framed = "/" + path + "/";
  return framed.find("/../") == std::string::npos && framed.find("/./") == std::string::npos &&
         framed.find("//") == std::string::npos;
}

bool is_below_any(const std::string& path, const std::vector<std::string>& files_or_folders) {
  return std::any_of(files_or_folders.begin(), files_or_folders.end(), [&](const std::string& each) {
    return path == each || path.compare(0, each.size() + 1, each + "/") == 0;
  });
}

}  // namespace lab
