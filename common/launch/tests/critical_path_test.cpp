#include "common/comm/trace/critical_path.h"

#include <fmt/format.h>

#include "common/api/communicator.h"
#include "common/comm/messages/get_endpoint.h"
#include "common/launch/run_ranks.h"
#include "common/testing/test.h"

namespace lab::comm {
namespace {

constexpr std::int64_t kMicrosecond = 1'000'000;

/// The events of a traced world of threads in which rank r computes for as long as `works` says whenever it calls
/// its work().
std::vector<TraceEvent> traced(
    int num_ranks, const std::function<void(Communicator&, const std::function<void(int us)>& work)>& body) {
  launch::WorldSpec spec;
  spec.num_ranks = num_ranks;
  spec.traced = true;
  const launch::WorldOutcome outcome = launch::run_ranks(
      spec, launch::RankBody([&](Communicator& comm, launch::RankOutcome&) {
        get_endpoint(comm).restart_clock();
        // 10,000 operations are a microsecond.
        const auto work = [](int microseconds) { at::mm(at::ones({50, 100}), at::ones({100, microseconds})); };
        body(comm, work);
      }));
  REQUIRE_FALSE(outcome.failure);
  std::vector<TraceEvent> events;
  for (const launch::RankOutcome& rank : outcome.ranks)
    events.insert(events.end(), rank.trace.begin(), rank.trace.end());
  return events;
}

/// "0 1>2 2" for a path on rank 0, by a message from 1 to 2, and so on.
std::string get_text(const std::vector<PathStep>& path) {
  std::string text;
  for (const PathStep& step : path) {
    if (!text.empty()) text += " ";
    text += step.src_rank == step.dst_rank ? fmt::format("{}", step.src_rank)
                                           : fmt::format("{}>{}", step.src_rank, step.dst_rank);
  }
  return text;
}

/// A path has no gap, begins at zero and ends with the last event.
void check_whole(const std::vector<PathStep>& path, const std::vector<TraceEvent>& events) {
  REQUIRE_FALSE(path.empty());
  CHECK(path.front().begin == 0);
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    CHECK(path[i].end == path[i + 1].begin);
    CHECK(path[i].dst_rank == path[i + 1].src_rank);
  }
  std::int64_t last = 0;
  for (const TraceEvent& event : events) last = std::max(last, event.model_end);
  CHECK(path.back().end == last);
}

TEST_CASE("the critical path goes through the rank that the others wait for") {
  for (const int slow : {0, 1, 2}) {
    CAPTURE(slow);
    const std::vector<TraceEvent> events = traced(3, [&](Communicator& comm, const auto& work) {
      work(comm.rank() == slow ? 1000 : 10);
      comm.collectives().barrier();
      work(5);
      comm.collectives().barrier();
    });
    const std::vector<PathStep> path = critical_path(events);
    check_whole(path, events);
    CHECK(path.front().src_rank == slow);
    CHECK(path.front().end >= 1000 * kMicrosecond);
  }
}

TEST_CASE("the critical path of a chain is its messages, and the work between them") {
  const std::vector<TraceEvent> events = traced(4, [](Communicator& comm, const auto& work) {
    const at::Tensor data = at::zeros({1000});
    if (comm.rank() > 0) comm.point_to_point().recv(data, comm.rank() - 1);
    work(100);
    if (comm.rank() < 3) comm.point_to_point().send(data, comm.rank() + 1);
  });
  const std::vector<PathStep> path = critical_path(events);
  CHECK(get_text(path) == "0 0>1 1 1>2 2 2>3 3");
  check_whole(path, events);
}

TEST_CASE("a send that waits for its receiver leads to the receiver") {
  const std::vector<TraceEvent> events = traced(2, [](Communicator& comm, const auto& work) {
    const at::Tensor data = at::zeros({1000});
    if (comm.rank() == 0) {
      comm.point_to_point().send(data, 1);
      work(500);
      comm.point_to_point().send(data, 1);
    } else {
      work(300);
      comm.point_to_point().recv(data, 0);
      comm.point_to_point().recv(data, 0);
    }
  });
  const std::vector<PathStep> path = critical_path(events);
  check_whole(path, events);
  CHECK(get_text(path) == "1 1>0 0 0>1 1");
}

TEST_CASE("periods follow each other on the axis of model time, each with its path; nothing is traced: no path") {
  const std::vector<TraceEvent> events = traced(2, [](Communicator& comm, const auto& work) {
    for (const int busy : {0, 1}) {
      get_endpoint(comm).restart_clock();
      work(comm.rank() == busy ? 200 : 1);
      comm.collectives().barrier();
    }
  });
  const std::vector<TraceEvent> in_model = in_model_time(events);
  REQUIRE(in_model.size() == 4);
  const std::vector<PathStep> path = critical_paths(in_model);
  CHECK(get_text(path) == "0 1 1>0");
  CHECK(path[0].begin == 0);
  CHECK(path[1].begin == path[0].end);
  CHECK(path[1].begin >= 200 * kMicrosecond);
  CHECK(path[1].end >= path[1].begin + 200 * kMicrosecond);
  CHECK(critical_path({}).empty());
  CHECK(critical_paths(in_model_time({})).empty());
}

}  // namespace
}  // namespace lab::comm
