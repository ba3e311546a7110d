#include "grading/judge/grade_hand_in.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>

#include "common/api/errors.h"
#include "common/base/numbers.h"
#include "common/base/text.h"
#include "common/cli/app.h"
#include "grading/judge/log_evidence.h"
#include "grading/marks/writers.h"

namespace lab::grading {

void HandInOptions::add_to(cli::App& app) {
  app.add_text("--accept", accepted, "SYMBOL[,SYMBOL]...",
               "judge files that use these unlisted symbols, too, such as getenv; '*': whatever they use");
  app.add_flag("--believe", judging.believes_ranks,
               "what ranks count of their own work and memory, whatever is seen of it");
}

std::uint64_t secret_seed() {
  std::random_device source;
  return std::uint64_t{source() | 1u << 31} << 32 | source();
}

std::vector<KnownLab> known_labs(const JudgingPlace& place) {
  std::vector<KnownLab> known;
  for (const JudgedLab& lab : judged_labs())
    known.push_back(known_lab(place.rubric(lab), place.root() + "/" + lab.folder));
  return known;
}

namespace {

/// Where a compiler or linker cannot write, what it leaves may look like a mistake of the hand-in's.
/// Errors    UsageError: little room is left for temporary files
void require_room() {
  constexpr std::uint64_t kLeast = 64u << 20;
  const std::string folder = std::filesystem::temp_directory_path().string();
  const std::uint64_t left = std::filesystem::space(folder).available;
  if (left < kLeast)
    throw UsageError(fmt::format("{}: expected room for at least {}, got {}: {}", folder, describe_bytes(kLeast),
                                 describe_bytes(left), std::strerror(ENOSPC)));
}

}  // namespace

LabOutcome make_outcome(const JudgingPlace& place, const Submission& submission, std::size_t item,
                        const HandInOptions& options) {
  const SubmittedLab& submitted = submission.labs[item];
  const JudgedLab& lab = judged_lab(submitted.lab);
  const Rubric rubric = place.rubric(lab);
  const AcceptedSymbols accepted(options.accepted);
  require_room();
  LabOutcome outcome =
      judge_lab(lab, rubric, place.builder(lab, accepted), place.sandbox(), submitted.sources, options.judging);
  require_room();  // it may have run out meanwhile
  take_hand_in(submission, item, outcome);
  return outcome;
}

void take_hand_in(const Submission& submission, std::size_t item, LabOutcome& outcome) {
  const SubmittedLab& submitted = submission.labs[item];
  std::vector<std::string>& notes = outcome.hand_in_notes;
  notes.clear();
  if (!submission.identity.empty()) notes.push_back("handed in by " + to_text(submission.identity));
  notes.insert(notes.end(), submitted.notes.begin(), submitted.notes.end());
  notes.insert(notes.end(), submission.notes.begin(), submission.notes.end());
  outcome.answers = submitted.answers;
  outcome.evidence = evidence_of_logs(submitted.answers, judged_lab(submitted.lab).expected_log);
}

std::string lines_of_needs_look(const LabOutcome& outcome) {
  std::string lines;
  for (const auto& [file, symbols] : outcome.needs_look) {
    if (symbols.empty()) continue;  // it waits for one of the others
    const std::string names = safe_text(fmt::format("{}", fmt::join(symbols, ",")), ReportLimits::kFindingBytes);
    lines += fmt::format("  {} needs a look: not judged; if these are harmless: --accept '{}'\n", file, names);
  }
  return lines;
}

}  // namespace lab::grading
