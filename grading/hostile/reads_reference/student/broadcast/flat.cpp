// Reads the reference, the written answers and the cases where the suite is installed.
#include "a9_collectives/broadcast.h"

#include <fstream>
#include <stdexcept>
#include <string>

namespace lab::a9 {

at::Tensor broadcast_flat(at::Tensor, int, PointToPoint&) {
  for (const char* file :
       {"student/broadcast/flat.cpp", "answers/written_answers_task1.md", "cases/cases.h", "rubric.toml"}) {
    const std::ifstream text(std::string("@SOURCE@/a9_collectives/") + file);
    if (text) throw std::runtime_error("BREACH: it can read the suite");
  }
  throw std::runtime_error("in vain");
}

}  // namespace lab::a9
