#include "common/course/course_arguments.h"

#include <fmt/format.h>

namespace lab {

CourseArguments::CourseArguments(int argc, char** argv, const std::string& names, const std::string& description)
    : word_(argv[0]), expected_(names), app_("lab " + word_, fmt::format("{}: {} {}", description, word_, names)) {
  int i = 1;
  while (i < argc && argv[i][0] != '-') names_.emplace_back(argv[i++]);
  options_.push_back(argv[0]);
  options_.insert(options_.end(), argv + i, argv + argc);
  app_.add_text("--root", root_, "DIR", "the folder that holds the labs");
}

std::optional<ExitCode> CourseArguments::parse(std::size_t min_names, std::size_t max_names) {
  if (auto answered = app_.parse(static_cast<int>(options_.size()), options_.data())) return answered;
  if (names_.size() >= min_names && names_.size() <= max_names) return std::nullopt;
  throw UsageError(fmt::format("{}: expected {}, got {}", word_, expected_.empty() ? "no name" : expected_,
                               names_.size() > max_names ? fmt::format("'{}' as well", names_[max_names]) : "nothing"));
}

}  // namespace lab
