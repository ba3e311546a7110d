#pragma once

#include <stdexcept>
#include <string>

namespace lab::grading {

/// Because of the machine, not the submission, something could not be judged: twice it could not start, was killed for
/// lack of memory, or had no CPU to run on. What depends on it has no marks yet, not even 0.
class NotJudged : public std::runtime_error {
 public:
  explicit NotJudged(const std::string& reason) : std::runtime_error(reason) {}
};

}  // namespace lab::grading
