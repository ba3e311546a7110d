#pragma once

#include <exception>
#include <string>

namespace lab {

/// The exit code for the exception: a lab::Error's own; 7 for any other that is known to come from student code; 2 for
/// what the machine refuses (memory, threads, a full disk); else 70.
int choose_exit_code(const std::exception& failure);

/// What happened, in one line: the exception's text without LibTorch's C++ backtrace ("Exception raised from ...").
std::string get_message(const std::exception& failure);

/// The same for an exception from student code, or from a library it called, with the student's line if known:
/// "student/ring.cpp:41: bad shape". Call it inside the handler; null: the thrown object is not an exception.
std::string student_message(const std::exception* failure);

}  // namespace lab
