#include <algorithm>
#include <random>

#include "common/pipeline/generators.h"
#include "common/pipeline/tests/dependencies.h"
#include "common/testing/plain_test.h"

using namespace lab::pipeline;

namespace {

Timeline plan_timeline(const ScheduleOptions& options) {
  const Schedule schedule = make_schedule(options);
  return make_timeline(schedule, even_costs(schedule, 1, 1, 1));
}

double makespan(const std::string& kind, int p, int m, int v = 1) {
  return plan_timeline({kind, p, m, v}).makespan_seconds;
}

std::vector<int> chunk_counts(const std::string& kind) {
  return kind == "interleaved" ? std::vector<int>{1, 2, 3, 4} : std::vector<int>{1};
}

/// A number of micro-batches that the kind accepts.
int allowed(const std::string& kind, int p, int m) {
  return kind == "interleaved" ? (m + p - 1) / p * p : m;
}

/// Uneven on purpose, with free computations among them.
Costs random_costs(const Schedule& schedule, int most, std::mt19937& random) {
  std::uniform_int_distribution<int> seconds(0, most);
  Costs costs;
  for (auto* values : {&costs.forward_seconds, &costs.backward_input_seconds, &costs.backward_weight_seconds}) {
    values->clear();
    for (int stage = 0; stage < schedule.num_stages(); ++stage) values->push_back(seconds(random));
  }
  return costs;
}

}  // namespace

TEST_CASE("pipeline makespan: the published numbers, forward 1 and backward 1 + 1, messages free") {
  struct Golden {
    int p, m;
    double plain, interleaved_2, interleaved_4, zero_bubble;
  };
  for (const Golden& golden : {Golden{4, 4, 21, 16.5, 14.25, 15}, Golden{4, 8, 33, 28.5, 26.25, 27},
                               Golden{4, 16, 57, 52.5, 50.25, 51}, Golden{8, 32, 117, 106.5, 101.25, 103}}) {
    CAPTURE(golden.p);
    CAPTURE(golden.m);
    CHECK(makespan("afab", golden.p, golden.m) == golden.plain);
    CHECK(makespan("1f1b", golden.p, golden.m) == golden.plain);
    CHECK(makespan("interleaved", golden.p, golden.m, 1) == golden.plain);
    CHECK(makespan("interleaved", golden.p, golden.m, 2) == golden.interleaved_2);
    CHECK(makespan("interleaved", golden.p, golden.m, 4) == golden.interleaved_4);
    CHECK(makespan("zb-h1", golden.p, golden.m) == golden.zero_bubble);
  }
}

TEST_CASE("pipeline makespan: the closed forms, and those of the live activations") {
  for (const int p : {1, 2, 3, 4, 5, 8, 16, 33, 64}) {
    for (const int m : {1, 2, 7, p, p + 1, 3 * p, p == 4 || p == 64 ? 512 : 65}) {
      CAPTURE(p);
      CAPTURE(m);
      const Timeline afab = plan_timeline({"afab", p, m});
      const Timeline plain = plan_timeline({"1f1b", p, m});
      const Timeline zero_bubble = plan_timeline({"zb-h1", p, m});
      CHECK(afab.makespan_seconds == 3 * (m + p - 1));
      CHECK(plain.makespan_seconds == 3 * (m + p - 1));
      CHECK(zero_bubble.makespan_seconds == 2 * m + std::max(m, p) + p - 1);
      for (int rank = 0; rank < p; ++rank) {
        const auto at = static_cast<std::size_t>(rank);
        CHECK(afab.peak_live_activations[at] == m);
        CHECK(plain.peak_live_activations[at] == std::min(m, p - rank));
        CHECK(zero_bubble.peak_live_activations[at] == std::min(m, p));
      }
    }
  }
}

TEST_CASE("pipeline makespan: the closed forms of interleaved") {
  for (const int p : {1, 2, 3, 4, 5, 8, 16, 33, 64}) {
    for (const int m : {p, 2 * p, 3 * p, p == 4 || p == 64 ? 512 : 5 * p}) {
      for (const int v : {1, 2, 4}) {
        CAPTURE(p);
        CAPTURE(m);
        CAPTURE(v);
        const Timeline timeline = plan_timeline({"interleaved", p, m, v});
        CHECK(timeline.makespan_seconds == 3 * m + 3.0 * (p - 1) / v);
        for (int rank = 0; rank < p; ++rank) {
          const double uncapped = (2.0 * (p - 1 - rank) + (v - 1) * p + 1) / v;
          CHECK(timeline.peak_live_activations[static_cast<std::size_t>(rank)] == std::min<double>(m, uncapped));
        }
      }
    }
  }
}

TEST_CASE("pipeline makespan: the bubble is (p-1)/(m+p-1)") {
  for (const char* kind : {"afab", "1f1b"}) {
    CHECK(plan_timeline({kind, 4, 8}).bubble_fraction() == doctest::Approx(3.0 / 11));
    CHECK(plan_timeline({kind, 8, 32}).bubble_fraction() == doctest::Approx(7.0 / 39));
    CHECK(plan_timeline({kind, 1, 5}).bubble_fraction() == 0);
  }
}

TEST_CASE("pipeline makespan: late messages that are free cost nothing beyond the computations' own dependencies") {
  std::mt19937 random(20);
  for (const std::string& kind : schedule_kinds()) {
    for (const int v : chunk_counts(kind)) {
      for (const int p : {1, 2, 3, 4, 5, 8, 16}) {
        for (const int m : {1, 2, 3, 5, 8, 40}) {
          const Schedule schedule = make_schedule({kind, p, allowed(kind, p, m), v});
          CAPTURE(kind);
          CAPTURE(v);
          CAPTURE(p);
          CAPTURE(schedule.num_micro_batches);
          for (const int most : {0, 1, 1, 3, 20}) {
            const Costs costs = most == 0 ? Costs{} : random_costs(schedule, most, random);
            const Timeline timeline = make_timeline(schedule, costs);
            CHECK(timeline.makespan_seconds == makespan_of_dependencies(schedule, costs));
            CHECK(in_right_order(schedule, timeline));
          }
        }
      }
    }
  }
}

TEST_CASE("pipeline makespan: the same on 64 ranks with 512 micro-batches") {
  for (const std::string& kind : schedule_kinds()) {
    const Schedule schedule = make_schedule({kind, 64, 512, kind == "interleaved" ? 4 : 1});
    const Timeline timeline = make_timeline(schedule, Costs{});
    CHECK(timeline.makespan_seconds == makespan_of_dependencies(schedule, Costs{}));
    CHECK(in_right_order(schedule, timeline));
  }
}
