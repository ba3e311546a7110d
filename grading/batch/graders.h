#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/launch/supervise/run_directory.h"
#include "grading/batch/grade_one.h"
#include "grading/processes/own_processes.h"

namespace lab::grading {

struct GraderOptions {
  int jobs = 1;                   ///< graders at a time
  std::string through;            ///< the command that starts each; empty: it is forked from this process
  std::vector<std::string> argv;  ///< that command and `labgrade grade-one`, which an order's file follows
  std::map<std::string, std::string> environment;  ///< added to the one of this process
};

/// The processes that carry out a class's orders, one for each, here or wherever a command starts them.
class Graders {
 public:
  /// Makes the folder of the orders' files, in TMPDIR.
  Graders(const JudgingPlace& place, const std::vector<KnownLab>& known, GraderOptions options);

  /// Carries out the orders, and calls `take` in this process for each, in the order in which they end. A grader that
  /// ends without a result, or shows no sign of life for three minutes, is lost: its order is carried out once more,
  /// after the others. If that is lost, too, or none has ever begun, the result has a problem that says so.
  /// Returns   the signal that stopped it; nothing: all is done
  /// Call      as run_forked()
  std::optional<int> run(const std::vector<GradeOrder>& orders,
                         const std::function<void(std::size_t order, const GradedHandIn& graded)>& take);

 private:
  struct Attempt {
    std::size_t order;
    std::string lost_on;  ///< where the first one was lost; empty: this is the first
  };
  using Time = std::chrono::steady_clock::time_point;

  OrderFile file_for(const Attempt& attempt) const;
  int start(const GradeOrder& order, const OrderFile& file) const;
  bool is_lost(const OrderFile& file);
  void say_that_nothing_begins();
  std::string describe_end(const ForkedEnd& end) const;

  const JudgingPlace& place_;
  const std::vector<KnownLab>& known_;
  const GraderOptions options_;
  const launch::RunDirectory folder_;
  Time start_;
  /// By file: the grader's last one, and when it was seen.
  std::map<std::string, std::pair<std::filesystem::file_time_type, Time>> signs_of_life_;
  bool something_began_ = false, wait_is_noted_ = false, stdout_is_noted_ = false;
};

}  // namespace lab::grading
