#pragma once

#include <vector>

// Throws from a unit that lies and is compiled as student code is.
namespace lab::testing {

/// One after the last: thrown inside the C++ library, in a function of a header that is inlined here.
int beyond_end(const std::vector<int>& values);
extern const int kBeyondEndLine;

/// Thrown here, and nothing that is an exception.
void throw_number();
extern const int kThrowNumberLine;

/// Calls a function that is no student's, which throws.
void call(void (*other)());
extern const int kCallLine;

}  // namespace lab::testing
