#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/course/course_tree.h"

namespace lab {

/// What GitHub shows at a line of a file.
struct Annotation {
  std::string file;      ///< from the root of the checked-out repository; empty: of no file
  std::size_t line = 0;  ///< 0: of the file as a whole
  std::string title, message;
};

/// The workflow command that makes it, with its line end: "::error file=...,line=...,title=...::message". Whatever is in
/// the values, it stays one command.
/// Source    GitHub's "Workflow commands"; actions/runner, ActionCommand.cs
std::string to_text(const Annotation& annotation);

/// An annotation for each check that is not right, and for each task that is not implemented, in what `LAB check --json`
/// wrote: where the student's code threw, or at the task's TODO, or at its file. `folder` is that of the tree in the
/// repository, such as "course/"; empty: they are the same.
/// Errors    UsageError: it is not such JSON, which `path` names
std::vector<Annotation> list_annotations(const std::string& check_json, const std::string& path, const CourseTree& tree,
                                         const std::string& folder = "");

}  // namespace lab
