#include "grading/similarity/class_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/numbers.h"
#include "common/base/text.h"
#include "grading/submission/results_folder.h"

namespace lab::grading {
namespace {

/// What the process that reads a hand-in leaves of it.
struct DescribedCode {
  ScannedHandIn scanned;
  std::map<std::string, std::map<std::string, std::string>> labs;  ///< sources, as in SubmittedLab
  std::vector<std::string> faults;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DescribedCode, scanned, labs, faults)

/// Of all student files of a lab; the suite's own have up to 40 KiB.
constexpr std::size_t kMostBytes = 256 << 10;

/// In the process that reads a hand-in.
std::string describe(const Submission& submission) {
  DescribedCode described = {scan(submission), {}, {}};
  for (const SubmittedLab& lab : submission.labs) {
    std::size_t bytes = 0;
    for (const auto& [name, text] : lab.sources) bytes += text.size();
    if (bytes > kMostBytes) {
      described.faults.push_back(fmt::format("{}: has {} of code, expected at most {}", lab.lab, describe_bytes(bytes),
                                             describe_bytes(kMostBytes)));
    } else if (bytes > 0) {
      described.labs[lab.lab] = lab.sources;
    }
  }
  return json_text(described);
}

/// Names of students' results as `lab grade-all` has them; two students who gave the same id are told apart.
class StudentNames {
 public:
  explicit StudentNames(const std::vector<KnownLab>& known) : known_(known) {}

  std::string get_name(const HandIn& hand_in, const Identity& identity) {
    const std::string folder = results_name(hand_in.path, identity, known_);
    std::vector<std::string>& owners = owners_[folder];
    const std::string owner = to_text(identity);
    auto found = std::find(owners.begin(), owners.end(), owner);
    if (found == owners.end()) found = owners.insert(owners.end(), owner);
    return found == owners.begin() ? folder : fmt::format("{} ({})", folder, found - owners.begin() + 1);
  }

 private:
  const std::vector<KnownLab>& known_;
  std::map<std::string, std::vector<std::string>> owners_;  ///< by folder, in order of appearance
};

std::string message_about(const HandIn& one, const std::string& fault) {
  const bool names_it = fault.rfind(one.shown, 0) == 0;
  return one_line(safe_text(names_it ? fault : one.shown + ": " + fault, 500));
}

bool is_same_student(const Student& a, const Student& b) {
  if (!a.id.empty() && !b.id.empty()) return a.id == b.id;
  if (!a.email.empty() && !b.email.empty()) return a.email == b.email;
  return !a.name.empty() && a.name == b.name;
}

}  // namespace

std::optional<ClassCode> read_class_code(const ClassFolder& folder, const Roster* roster, int jobs, int& signal) {
  std::vector<Described> described;
  if (const auto stopped = folder.describe_all(jobs, describe, described)) {
    signal = *stopped;
    return std::nullopt;
  }
  const std::vector<HandIn>& found = folder.hand_ins().found;
  std::vector<ScannedHandIn> scanned(found.size());
  std::map<std::string, DescribedCode> read;  // by path
  ClassCode code;
  for (std::size_t i = 0; i < found.size(); ++i) {
    DescribedCode& one = read[found[i].path];
    if (described[i].problem.empty())
      one = from_json_text<DescribedCode>(described[i].text, "what is in " + found[i].shown);
    scanned[i] = one.scanned;
    scanned[i].problem += described[i].problem;
    for (const std::string& fault : one.faults) code.not_compared.push_back(message_about(found[i], fault));
  }
  StudentNames names(folder.known());
  code.plan = plan_class(folder.hand_ins(), scanned, roster,
                         [&](const HandIn& one, const Identity& identity) { return names.get_name(one, identity); });
  for (const PlannedHandIn& one : code.plan.hand_ins) {
    if (!one.scanned.problem.empty()) code.not_compared.push_back(message_about(one.hand_in, one.scanned.problem));
    for (const std::string& lab : one.labs) {
      const auto& labs = read.at(one.hand_in.path).labs;
      if (const auto sources = labs.find(lab); sources != labs.end()) code.labs[lab].push_back({&one, sources->second});
    }
  }
  return code;
}

bool have_common_student(const PlannedHandIn& a, const PlannedHandIn& b) {
  if (a.who == b.who) return true;
  for (const std::size_t row : a.roster_rows) {
    if (std::find(b.roster_rows.begin(), b.roster_rows.end(), row) != b.roster_rows.end()) return true;
  }
  for (const Student& student : a.hand_in.students) {
    if (std::any_of(b.hand_in.students.begin(), b.hand_in.students.end(),
                    [&](const Student& other) { return is_same_student(student, other); }))
      return true;
  }
  return false;
}

}  // namespace lab::grading
