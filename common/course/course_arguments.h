#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/cli/app.h"

namespace lab {

/// The command line of a labcourse subcommand: names first, then options.
class CourseArguments {
 public:
  /// `names` says what may come before the options, for --help and error messages: "TASK [LEVEL]".
  CourseArguments(int argc, char** argv, const std::string& names, const std::string& description);

  App& app() { return app_; }
  /// Reads all; call once. Returns an exit code if --help was printed.
  /// Errors    UsageError: fewer or more names than that; wrong options
  std::optional<ExitCode> parse(std::size_t min_names, std::size_t max_names);

  const std::vector<std::string>& names() const { return names_; }
  /// The first name; empty: none was given.
  std::string name() const { return names_.empty() ? "" : names_.front(); }
  const std::string& root() const { return root_; }

 private:
  const std::string word_, expected_;
  std::vector<char*> options_;  ///< argv without the names
  std::vector<std::string> names_;
  App app_;
  std::string root_ = ".";
};

}  // namespace lab
