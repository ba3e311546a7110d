#pragma once

#include <map>
#include <string>
#include <vector>

#include "grading/submission/submission.h"

namespace lab::grading {

/// Where in a submission a lab's files are: those whose path begins with `prefix` ("hw/a9_collectives/", or "").
struct LabPlace {
  const KnownLab* lab = nullptr;
  std::string prefix;
};

/// What is known about a submission apart from its files.
struct SubmissionLabel {
  std::string path;      ///< for messages
  std::string called;    ///< a file's or folder's name, which may say which lab it is
  std::string only_lab;  ///< empty: all labs that are there
};

/// Finds the labs in a submission's files.
/// Errors    UnreadableSubmission: `only_lab` is not there. UsageError: there is none; folders of several submissions
std::vector<LabPlace> find_labs(const SubmissionLabel& label, const std::map<std::string, std::string>& files,
                                const std::vector<KnownLab>& labs);

/// The lab of this name or short name.
/// Errors    UsageError: there is none, with the nearest
const KnownLab& lab_named(const std::string& name, const std::vector<KnownLab>& labs);

/// The lab that a file or folder is called after: A9 for "a9.tar.gz"; nullptr for any other name.
const KnownLab* lab_called(const std::string& name, const std::vector<KnownLab>& labs);

}  // namespace lab::grading
