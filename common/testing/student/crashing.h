#pragma once

#include <atomic>
#include <vector>

// Crashes and loops in a unit that lies and is compiled as student code is.
namespace lab::testing {

int follow(const int* pointer);
extern const int kFollowLine;

int divide(int number, int divisor);
extern const int kDivideLine;

/// Without a check of its own, unlike at().
int find_element(const std::vector<int>& values, std::size_t index);
extern const int kElementLine;

int call_itself(int depth);
extern const int kCallItselfFirstLine, kCallItselfLastLine;

/// Throws out of a function that must not.
int throw_from_noexcept(const std::vector<int>& values) noexcept;
extern const int kNoexceptLine;

void loop_while(const std::atomic<bool>& going);
extern const int kLoopFirstLine, kLoopLastLine;

}  // namespace lab::testing
