#include "grading/batch/scanned_hand_in.h"

#include <fmt/format.h>

#include "common/course/rubric/content_hash.h"

namespace lab::grading {
namespace {

/// Each text with its length, so that no two lists of texts are the same.
void add(std::string& all, const std::string& text) {
  all += fmt::format("{}:", text.size());
  all += text;
}

void add(std::string& all, const std::map<std::string, std::string>& files) {
  add(all, std::to_string(files.size()));
  for (const auto& [name, bytes] : files) {
    add(all, name);
    add(all, bytes);
  }
}

std::string read_code(const SubmittedLab& lab) {
  std::string all;
  add(all, lab.lab);
  add(all, lab.sources);
  return content_hash(all);
}

std::string find_version(const Submission& submission, const SubmittedLab& lab) {
  std::string all;
  for (const std::string* text : {&submission.identity.name, &submission.identity.id, &lab.lab}) add(all, *text);
  add(all, lab.sources);
  add(all, lab.answers);
  for (const auto* notes : {&submission.notes, &lab.notes}) {
    add(all, std::to_string(notes->size()));
    for (const std::string& note : *notes) add(all, note);
  }
  return content_hash(all);
}

}  // namespace

ScannedHandIn scan(const Submission& submission) {
  ScannedHandIn scanned;
  scanned.identity = submission.identity;
  for (const SubmittedLab& lab : submission.labs) {
    scanned.versions[lab.lab] = find_version(submission, lab);
    scanned.codes[lab.lab] = read_code(lab);
    if (!lab.sources.empty()) scanned.with_code.insert(lab.lab);
  }
  return scanned;
}

}  // namespace lab::grading
