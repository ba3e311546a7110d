#include "common/testing/student/throwing.h"

namespace lab::testing {

const int kBeyondEndLine = __LINE__ + 2;
int beyond_end(const std::vector<int>& values) {
  return values.at(values.size());
}

const int kThrowNumberLine = __LINE__ + 2;
void throw_number() {
  throw 3;
}

const int kCallLine = __LINE__ + 2;
void call(void (*other)()) {
  other();
  static_cast<void>(kCallLine);  // the call is not the last of the function, which would make it a jump
}

}  // namespace lab::testing
