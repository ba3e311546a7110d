#include "grading/solutions/generated/fates_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace lab::grading::generated {
namespace {

constexpr double kImprobable = 0.01;

/// Of at most `found` in `tried` independent tries that succeed with probability `share`, in (0, 1).
double probability_of_at_most(int found, int tried, double share) {
  double sum = 0;
  for (int k = 0; k <= found; ++k) {
    const double log_ways = std::lgamma(tried + 1) - std::lgamma(k + 1) - std::lgamma(tried - k + 1);
    sum += std::exp(log_ways + k * std::log(share) + (tried - k) * std::log1p(-share));
  }
  return sum;
}

}  // namespace

bool is_share_at_least(double percent, int found, int tried, bool sampled) {
  const double share = percent / 100;
  if (found >= share * tried) return true;
  return sampled && share < 1 && probability_of_at_most(found, tried, share) >= kImprobable;
}

namespace {

double percent(int part, int whole) {
  return whole == 0 ? 100 : 100.0 * part / whole;
}

const char* get_name(Fate::Kind kind) {
  switch (kind) {
    case Fate::Kind::kNotCompiled: return "does not compile";
    case Fate::Kind::kByCheck: return "check";
    case Fate::Kind::kByJudge: return "judge";
    case Fate::Kind::kEqual: return "equal";
    case Fate::Kind::kSurvived: break;
  }
  return "survived";
}

std::string make_heading(const Fate& fate) {
  if (fate.kind == Fate::Kind::kSurvived)
    return fmt::format("survivors, which differ in {}", fmt::join(fate.differs, " and "));
  if (!fate.reached) return "never reached by a case";
  return fate.reason.empty() ? "equal, no reason given" : "equivalent";
}

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
  made += other.made;
  compiled += other.compiled;
  by_check += other.by_check;
  by_judge += other.by_judge;
  explained += other.explained;
  unexplained += other.unexplained;
  survived += other.survived;
  seconds += other.seconds;
  return *this;
}

double Tally::check_share() const {
  return percent(by_check, compiled - explained);
}
double Tally::judge_share() const {
  return percent(by_check + by_judge, compiled - explained);
}
double Tally::equivalent_share() const {
  return compiled == 0 ? 0 : percent(explained, compiled);
}

Tally count_fates(const std::vector<Fate>& fates) {
  Tally tally;
  for (const Fate& fate : fates) {
    ++tally.made;
    if (fate.kind == Fate::Kind::kNotCompiled) continue;
    ++tally.compiled;
    if (fate.kind == Fate::Kind::kByCheck) ++tally.by_check;
    if (fate.kind == Fate::Kind::kByJudge) ++tally.by_judge;
    if (fate.kind == Fate::Kind::kSurvived) ++tally.survived;
    if (fate.kind == Fate::Kind::kEqual) ++(fate.reason.empty() ? tally.unexplained : tally.explained);
  }
  return tally;
}

std::string render_table(const std::vector<std::pair<std::string, Tally>>& rows) {
  std::string text =
      fmt::format("{:28} {:>5} {:>8} {:>6} {:>6} {:>10} {:>6} {:>9} {:>8} {:>8}\n", "", "made", "compiled", "check",
                  "judge", "equivalent", "equal", "survivors", "check %", "judge %");
  for (const auto& [name, tally] : rows) {
    text += fmt::format("{:28} {:>5} {:>8} {:>6} {:>6} {:>10} {:>6} {:>9} {:>8.1f} {:>8.1f}", name, tally.made,
                        tally.compiled, tally.by_check, tally.by_judge, tally.explained, tally.unexplained,
                        tally.survived, tally.check_share(), tally.judge_share());
    text += tally.seconds > 0 ? fmt::format("  {:.0f} s\n", tally.seconds) : "\n";
  }
  return text;
}

std::string text_of_survivors(const std::string& lab_folder, const std::string& lab, const std::vector<Fate>& fates) {
  std::map<std::string, std::vector<const Fate*>> groups;
  for (const Fate& fate : fates) {
    if (fate.kind == Fate::Kind::kSurvived || fate.kind == Fate::Kind::kEqual)
      groups[make_heading(fate)].push_back(&fate);
  }
  std::string text;
  for (const auto& [heading, group] : groups) {
    text += fmt::format("{}: {}: {}\n", lab, heading, group.size());
    for (const Fate* fate : group) {
      const SourceMutant& mutant = *fate->mutant;
      text += fmt::format("  {}:{}  {}/{}:{}  {}: {}\n", lab, mutant.id, lab_folder, mutant.file, mutant.line,
                          mutant.rule, mutant.what);
      for (const std::string& more : {fate->differs_at, fate->by, fate->reason}) {
        if (!more.empty()) text += fmt::format("      {}\n", more);
      }
    }
  }
  return text;
}

void add_json(nlohmann::ordered_json& list, const std::string& lab, const std::vector<Fate>& fates) {
  for (const Fate& fate : fates) {
    const SourceMutant& mutant = *fate.mutant;
    list.push_back({{"id", fmt::format("{}:{}", lab, mutant.id)},
                    {"file", mutant.file},
                    {"line", mutant.line},
                    {"source", mutant.line_text},
                    {"task", mutant.task},
                    {"rule", mutant.rule},
                    {"what", mutant.what},
                    {"fate", get_name(fate.kind)},
                    {"reached", fate.reached},
                    {"by", fate.by},
                    {"symptom", fate.symptom},
                    {"differs", fate.differs},
                    {"differs_at", fate.differs_at},
                    {"reason", fate.reason}});
  }
}

}  // namespace lab::grading::generated
