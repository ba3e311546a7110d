#include "optC_model_parallel/commands/training_progress.h"

#include <fmt/format.h>

#include "common/log/line_template.h"

namespace lab::optc {

TrainingProgress::TrainingProgress(const std::string& label, std::int64_t num_images, bool quiet)
    : start_(std::chrono::steady_clock::now()), quiet_(quiet), bar_({label, num_images}) {}

void TrainingProgress::step(std::int64_t num_images, double loss) {
  num_images_ += num_images;
  if (!quiet_) {
    bar_.advance(num_images,
                 fmt::format("loss {:.3f}, {:.0f} images/s", loss, static_cast<double>(num_images_) / seconds()));
  }
}

double TrainingProgress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::string TrainingProgress::text() const {
  return log::filled(kSpeedLine, num_images_, seconds(), static_cast<double>(num_images_) / seconds());
}

}  // namespace lab::optc
