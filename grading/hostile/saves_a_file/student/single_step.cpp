// Leaves a tensor, a text and a folder behind, as one does while looking for a mistake.
#include <torch/serialize.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "a4_data_tensor/single_step.h"

namespace lab::a4 {
namespace {

bool works(void (*try_it)()) {
  try {
    try_it();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

StepResult single_step(const StepOptions&) {
  const bool has_text = std::ofstream("/tmp/lab_debug.txt").is_open();
  if (has_text || works([] { torch::save(at::ones({2}), "/tmp/lab_outputs.pt"); }) ||
      works([] { std::filesystem::create_directories("/tmp/lab_debug"); }))
    throw std::runtime_error("BREACH: it can write files");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
