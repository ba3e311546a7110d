#pragma once

#include <string>
#include <string_view>

// What the machine refuses: memory, processes, descriptors, room. Never a bug in the suite.
namespace lab {

/// The text of an errno; if a limit of this process can cause it, also the limit and how to raise it.
/// Example   "Too many open files: this process may open 1024; hint: raise the limit with ulimit -n"
std::string describe_error(int error);

/// True for the errno of a lack of something, or of a stream that takes nothing.
bool is_machine_limit(int error);

/// The text, and how much memory this process may use, if that is limited.
std::string with_memory_limit(const std::string& text);

/// Writes all of the text to a descriptor, such as standard output.
/// Errors    UsageError: it is closed, its reader went away, or its disk is full
void print_to(int fd, std::string_view text);

/// The error of print_to(), for an errno.
[[noreturn]] void throw_unwritable(int fd, int error);

}  // namespace lab
