#include "optC_model_parallel/commands/curves.h"

#include <limits>
#include <string>
#include <vector>

#include "common/api/errors.h"
#include "common/plot/plot.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

// Curves as tables that can be read back, and as pictures.
namespace lab::optc {
namespace {

using Paths = std::vector<std::string>;

TrainingRecord make_record(std::vector<double> losses, std::vector<double> test_losses,
                           std::vector<double> accuracies) {
  TrainingRecord record;
  record.losses = std::move(losses);
  record.test_losses = std::move(test_losses);
  record.accuracies = std::move(accuracies);
  return record;
}

/// Whether an SVG viewer would show this text.
bool shows(const std::string& svg, const std::string& text) {
  return svg.find(text) != std::string::npos;
}

TEST_CASE("every run has a column, and every digit that it needs") {
  const testing::TemporaryFolder folder;
  const double third = 1.0 / 3.0, not_a_number = std::numeric_limits<double>::quiet_NaN();
  const NamedRecord one{"one process", make_record({2.5, third, 1e-10}, {2, 1.5}, {0.25, 0.5}), true};
  const NamedRecord two{"gpipe", make_record({2.5, not_a_number}, {2}, {0.125}), false};
  write_curves({one, two}, folder.file(""), "x");
  CHECK(testing::read_bytes(folder.file("x_steps.csv")) ==
        "step,one process,gpipe\n1,2.5,2.5\n2,0.33333333333333331,nan\n3,1e-10,\n");
  CHECK(testing::read_bytes(folder.file("x_epochs.csv")) ==
        "epoch,one process test loss,one process accuracy,gpipe test loss,gpipe accuracy\n"
        "1,2,0.25,2,0.125\n2,1.5,0.5,,\n");
}

TEST_CASE("the paths are those of the files, pictures among them") {
  const testing::TemporaryFolder folder;
  const TrainingRecord record = make_record({3, 2, 1}, {2, 1}, {0.1, 0.9});
  const Paths paths = write_curves({{"one process", record, true}, {"1f1b", record, false}}, folder.file(""), "optC_a");
  Paths expected = {folder.file("/optC_a_steps.csv"), folder.file("/optC_a_epochs.csv")};
  if (plot::missing_program().empty()) {
    for (const char* name : {"loss.png", "loss.svg", "accuracy.png", "accuracy.svg"})
      expected.push_back(folder.file(std::string("/optC_a_") + name));
    CHECK(testing::read_bytes(folder.file("optC_a_loss.png")).rfind("\x89PNG", 0) == 0);
    const std::string svg = testing::read_bytes(folder.file("optC_a_accuracy.svg"));
    CHECK(shows(svg, "one process"));
    CHECK(shows(svg, "1f1b"));
    CHECK(shows(svg, "> 80<"));  // percent
  } else {
    MESSAGE("skipped: " << plot::missing_program() << " is not installed");
  }
  CHECK(paths == expected);
  CHECK(folder.num_files() == expected.size());
}

TEST_CASE("what has no point has a table and no picture") {
  const testing::TemporaryFolder folder;
  const Paths paths = write_curves({{"one process", {}, true}, {"1f1b", {}, false}}, folder.file(""), "x");
  CHECK(paths.size() == 2);
  CHECK(testing::read_bytes(folder.file("x_steps.csv")) == "step,one process,1f1b\n");
}

TEST_CASE("one epoch, or one run, is enough for a picture") {
  const testing::TemporaryFolder folder;
  const Paths paths = write_curves({{"one process", make_record({1}, {1}, {0.5}), true}}, folder.file(""), "x");
  CHECK(paths.size() == (plot::missing_program().empty() ? 6 : 2));
}

TEST_CASE("a folder that is not there is refused") {
  const testing::TemporaryFolder folder;
  CHECK_THROWS_AS(write_curves({}, folder.file("absent"), "x"), UsageError);
}

}  // namespace
}  // namespace lab::optc
