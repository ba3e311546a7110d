#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "common/cli/progress.h"

namespace lab::optc {

/// The template of TrainingProgress::text().
constexpr const char* kSpeedLine = "{number} images in {number:.1f} s, {number:.0f} images/s";

/// A training's progress, loss and speed: a bar on stderr, and the figures on request. `quiet`: no bar, for ranks that
/// leave it to another.
class TrainingProgress {
 public:
  TrainingProgress(const std::string& label, std::int64_t num_images, bool quiet = false);

  /// A step is done.
  void step(std::int64_t num_images, double loss);

  std::int64_t num_images() const { return num_images_; }
  double seconds() const;
  /// "4608 images in 3.1 s, 1486 images/s": kSpeedLine, filled in.
  std::string text() const;

 private:
  std::chrono::steady_clock::time_point start_;
  std::int64_t num_images_ = 0;
  bool quiet_;
  cli::Progress bar_;
};

}  // namespace lab::optc
