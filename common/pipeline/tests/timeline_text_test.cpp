#include <algorithm>

#include "common/pipeline/generators.h"
#include "common/pipeline/timeline.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

using namespace lab::pipeline;

namespace {

using lab::testing::contains;

struct Shown {
  Schedule schedule;
  Timeline timeline;
  explicit Shown(const ScheduleOptions& options, Costs costs = {})
      : schedule(make_schedule(options)), timeline(make_timeline(schedule, costs)) {}

  std::string text(int columns) const { return timeline_text(schedule, timeline, columns); }
  std::string summary(const std::string& unit) const { return timeline_summary(schedule, timeline, unit); }
};

}  // namespace

TEST_CASE("pipeline timeline text: computations in proportion, gaps as dots") {
  CHECK(Shown({"1f1b", 2, 2}).text(40) ==
        "rank 0 |F0 F1 ..... B0--- .. B1---|\n"
        "rank 1 |.. F0 B0--- F1 B1--- .....|\n");
  CHECK(Shown({"zb-h1", 2, 3}).text(40) ==
        "rank 0 |F0 F1 .. I0 W0 F2 I1 W1 I2 W2|\n"
        "rank 1 |.. F0 I0 F1 I1 W0 F2 I2 W1 W2|\n");
}

TEST_CASE("pipeline timeline text: a page of it") {
  CHECK(
      Shown({"1f1b", 4, 8}).text(120) ==
      "rank 0 |F0 F1 F2 F3 ................. B0--- F4 B1--- F5 B2--- F6 B3--- F7 B4--- .. B5--- .. B6--- .. B7---|\n"
      "rank 1 |.. F0 F1 F2 ........... B0--- F3 B1--- F4 B2--- F5 B3--- F6 B4--- F7 B5--- .. B6--- .. B7--- .....|\n"
      "rank 2 |..... F0 F1 ..... B0--- F2 B1--- F3 B2--- F4 B3--- F5 B4--- F6 B5--- F7 B6--- .. B7--- ...........|\n"
      "rank 3 |........ F0 B0--- F1 B1--- F2 B2--- F3 B3--- F4 B4--- F5 B5--- F6 B6--- F7 B7--- .................|\n");
}

TEST_CASE("pipeline timeline text: chunks have letters") {
  CHECK(Shown({"interleaved", 2, 2, 2}).text(80) ==
        "rank 0 |F0a F1a F0b F1b ....... B0b---- ... B1b---- B0a---- B1a----|\n"
        "rank 1 |... F0a F1a F0b B0b---- F1b B1b---- B0a---- B1a---- .......|\n");
}

TEST_CASE("pipeline timeline text: only the letter where the name does not fit") {
  CHECK(Shown({"1f1b", 2, 2}).text(20) ==
        "rank 0 |FF..B0.B1|\n"
        "rank 1 |.FB0FB1..|\n");
  CHECK(Shown({"interleaved", 2, 2, 2}).text(24) ==
        "rank 0 |FFFF..B-.B-B-B-|\n"
        "rank 1 |.FFFB-FB-B-B-..|\n");
  CHECK(contains(Shown({"1f1b", 2, 11}).text(120), " F9 B9--- F10B10--"));
}

TEST_CASE("pipeline timeline text: many ranks and micro-batches, very short and free computations") {
  const std::string big = Shown({"1f1b", 64, 128}).text(100);
  CHECK(std::count(big.begin(), big.end(), '\n') == 64);
  for (std::size_t begin = 0; begin < big.size(); begin = big.find('\n', begin) + 1) {
    CHECK(big.find('\n', begin) - begin <= 100);
  }
  CHECK(contains(big, "rank  9 |"));
  Costs costs;
  costs.forward_seconds = {1, 1e-6};
  costs.backward_weight_seconds = {0};
  CHECK(Shown({"1f1b", 2, 2}, costs).text(41) ==
        "rank 0 |F0----- F1----- B0----- B1-----|\n"
        "rank 1 |....... B0----- B1----- .......|\n");
  costs.forward_seconds = costs.backward_input_seconds = {0};
  CHECK(Shown({"1f1b", 1, 2}, costs).text(40) == "rank 0 ||\n");
}

TEST_CASE("pipeline timeline text: a page must have room for a column") {
  const Shown shown({"afab", 4, 8});
  CHECK(contains(shown.text(10), "rank 3 |"));
  CHECK(lab::testing::get_message<lab::UsageError>([&] { shown.text(9); }) ==
        "a timeline of 4 ranks does not fit into 9 columns; expected at least 10");
}

TEST_CASE("pipeline timeline summary: bare numbers and times") {
  Costs costs;
  costs.message_bytes = 65536;
  CHECK(Shown({"1f1b", 4, 8}, costs).summary("") ==
        "makespan 33, bubble 27.3 % (9 of 33 on each rank)\n"
        "peak live activations: rank 0 4, rank 1 3, rank 2 2, rank 3 1\n"
        "links 0 > 1, 1 > 0, 1 > 2, 2 > 1, 2 > 3, 3 > 2: 8 messages, 512 KiB each\n");
  costs.forward_seconds = {0.25e-3};
  costs.backward_input_seconds = {0.25e-3};
  costs.backward_weight_seconds = {0.25e-3};
  CHECK(Shown({"zb-h1", 2, 3}, costs).summary("s") ==
        "makespan 2.5 ms, bubble 10.0 % (0.25 of 2.5 ms on each rank)\n"
        "peak live activations: 2 on each rank\n"
        "links 0 > 1, 1 > 0: 3 messages, 192 KiB each\n");
}

TEST_CASE("pipeline timeline summary: links that differ, ranks that differ, messages without bytes") {
  Costs costs;
  costs.forward_seconds = {1, 2};
  CHECK(Shown({"afab", 2, 1}, costs).summary("s") ==
        "makespan 7 s, bubble 50.0 % (3 to 4 of 7 s on each rank)\n"
        "peak live activations: 1 on each rank\n"
        "links 0 > 1, 1 > 0: 1 message each\n");
  const Shown interleaved({"interleaved", 3, 3, 2});
  CHECK(contains(interleaved.summary(""),
                 "links 0 > 1, 1 > 0, 1 > 2, 2 > 1: 6 messages each\n"
                 "links 0 > 2, 2 > 0: 3 messages each\n"));
  CHECK(lab::testing::get_message<lab::UsageError>([&] { interleaved.summary("h"); }) ==
        "unit 'h' of a timeline: expected 's' or '' (bare numbers)");
}

TEST_CASE("pipeline timeline summary: a few lines, however many ranks") {
  CHECK(Shown({"1f1b", 64, 64}).summary("") ==
        "makespan 381, bubble 49.6 % (189 of 381 on each rank)\n"
        "peak live activations: 1 (rank 63) to 64 (rank 0)\n"
        "links 0 > 1, 1 > 0, 1 > 2, 2 > 1, 2 > 3, 3 > 2, 3 > 4, 4 > 3, ... (126 links): 64 messages each\n");
  CHECK(Shown({"afab", 1, 2}).summary("") ==
        "makespan 6, bubble 0.0 % (0 of 6 on each rank)\npeak live activations: 2 on each rank\n");
}
