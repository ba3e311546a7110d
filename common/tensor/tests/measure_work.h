#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <map>
#include <string>

#include "common/tensor/meters/work_meter.h"
#include "common/testing/test.h"

namespace lab_test {

using ByOperator = std::map<std::string, std::int64_t>;

/// What `work` counts.
template <typename Work>
lab::WorkReading measure_work(const Work& work) {
  lab::install_work_meter();
  const lab::WorkScope scope;
  work();
  const lab::WorkReading reading = scope.reading();
  CHECK(reading.flops == scope.flops());
  std::int64_t sum = 0;
  for (const auto& [name, flops] : reading.by_operator) sum += flops;
  CHECK(sum == reading.flops);
  return reading;
}

template <typename Work>
std::int64_t flops_in(const Work& work) {
  return measure_work(work).flops;
}

inline at::Tensor tracked(at::IntArrayRef sizes) {
  return at::ones(sizes).set_requires_grad(true);
}

}  // namespace lab_test
