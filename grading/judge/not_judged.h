#pragma once

#include <stdexcept>
#include <string>

namespace lab::grading {

/// The machine, not the submission, kept something from being judged: twice it could not start, was killed for lack of
/// memory, or had no CPU to run on. What depends on it has no marks yet, neither 0 nor others.
class NotJudged : public std::runtime_error {
 public:
  explicit NotJudged(const std::string& reason) : std::runtime_error(reason) {}
};

}  // namespace lab::grading
