#include "common/testing/student/crashing.h"

namespace lab::testing {

const int kFollowLine = __LINE__ + 2;
int follow(const int* pointer) {
  return *pointer;
}

const int kDivideLine = __LINE__ + 2;
int divide(int number, int divisor) {
  return number / divisor;
}

const int kElementLine = __LINE__ + 2;
int find_element(const std::vector<int>& values, std::size_t index) {
  return values[index];
}

const int kCallItselfFirstLine = __LINE__ + 1;
int call_itself(int depth) {
  volatile int mark = depth;
  return depth < 0 ? 0 : call_itself(mark + 1) + mark;
}
const int kCallItselfLastLine = __LINE__ - 1;

const int kNoexceptLine = __LINE__ + 2;
int throw_from_noexcept(const std::vector<int>& values) noexcept {
  return values.at(values.size());
}

const int kLoopFirstLine = __LINE__ + 1;
void loop_while(const std::atomic<bool>& going) {
  while (going) {
  }
}
const int kLoopLastLine = __LINE__ - 1;

}  // namespace lab::testing
