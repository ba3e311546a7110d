#pragma once

#include <exception>
#include <string>

namespace lab {

/// The exit code that the exception leads to: a lab::Error's own, 7 if another is known to come from student code, else
/// 70.
int exit_code_of(const std::exception& failure);

/// What happened, in one line: the exception's text without LibTorch's C++ backtrace ("Exception raised from ...").
std::string message_of(const std::exception& failure);

/// The same of what student code, or a library called by it, has thrown, with the student's line where it is known:
/// "student/ring.cpp:41: bad shape". To be called where it is caught; null: what was thrown is not an exception.
std::string student_message(const std::exception* failure);

}  // namespace lab
