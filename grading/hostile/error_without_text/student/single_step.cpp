// Throws an exception whose text is no text, and then one whose text never comes.
#include "a4_data_tensor/single_step.h"

#include <exception>

namespace lab::a4 {
namespace {

struct WithoutText : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

struct WithoutEnd : std::exception {
  const char* what() const noexcept override {
    for (volatile int i = 0;; i = i + 1) {
    }
  }
};

}  // namespace

StepResult single_step(const StepOptions& options) {
  if (options.seed % 2 == 1) throw WithoutText();
  throw WithoutEnd();
}

}  // namespace lab::a4
