#include "a9_collectives/commands/bench.h"

#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "a9_collectives/choices.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"

// What the benchmark does with its figures; the figures themselves are not tested.
namespace lab::a9 {
namespace {

using testing::contains;

BenchRow ours(const std::string& algorithm, std::int64_t bytes, double seconds, bool selected = true) {
  BenchRow row;
  row.collective = "allreduce";
  row.algorithm = algorithm;
  row.selected = selected;
  row.transport = "gloo";
  row.bytes = bytes;
  row.ranks = 4;
  row.min_seconds = seconds / 2;
  row.median_seconds = seconds;
  row.max_seconds = seconds * 2;
  row.bus_factor = 1.5;
  row.messages = 6;
  row.bytes_sent = static_cast<std::uint64_t>(bytes) * 3 / 2;
  row.rounds = 6;
  return row;
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

TEST_CASE("bandwidth: bytes over the median time, and the bus's share of them") {
  const BenchRow row = ours("ring", 1 << 20, 1e-3);
  CHECK(row.algbw() == doctest::Approx(1.048576));
  CHECK(row.busbw() == doctest::Approx(1.5 * 1.048576));
}

TEST_CASE("table: a line has a word under every heading") {
  BenchRow row = ours("ring", 4096, 20e-6);
  row.wrong = 7;
  CHECK(words(bench_line(row)) == std::vector<std::string>{"4096", "allreduce", "*", "ring", "10.0", "20.0", "40.0",
                                                           "0.205", "0.307", "6", "6144", "6", "7"});
  row.selected = false;
  CHECK(words(bench_line(row))[2] == "ring");
  CHECK(bench_line(row).size() == bench_header().find('\n'));
}

TEST_CASE("JSON: every key that readers need") {
  const auto json = nlohmann::json::parse(bench_json({ours("ring", 4096, 20e-6)}));
  REQUIRE(json.size() == 1);
  for (const char* key :
       {"collective", "algorithm", "selected", "transport", "bytes", "ranks", "min_seconds", "median_seconds",
        "max_seconds", "algbw", "busbw", "messages", "bytes_sent", "rounds", "wrong"}) {
    CHECK_MESSAGE(json[0].contains(key), key);
  }
  CHECK(json[0].size() == 15);
}

TEST_CASE("JSON: rows survive a round trip") {
  BenchRow row = ours("recursive_doubling", 4096, 1.0 / 3e6);
  row.wrong = 7;
  row.transport = "shm";
  const std::vector<BenchRow> rows = {row, ours("ring", 4096, 20e-6, false)};
  const auto back = from_json_text<std::vector<BenchRow>>(json_text(rows), "rows");
  REQUIRE(back.size() == 2);
  CHECK(back[0].median_seconds == row.median_seconds);
  CHECK(back[0].busbw() == row.busbw());
  CHECK(back[0].transport == "shm");
  CHECK(back[1].algorithm == "ring");
  CHECK(bench_json(back) == bench_json(rows));
}

TEST_CASE("fit: each size gets its quickest algorithm; another one only if it saves a tenth") {
  std::vector<BenchRow> rows;
  const auto measured = [&](const char* algorithm, const std::vector<double>& seconds) {
    std::int64_t bytes = 1 << 10;
    for (const double of_size : seconds) {
      rows.push_back(ours(algorithm, bytes, of_size));
      bytes *= 4;
    }
  };
  measured("doubling", {1, 1, 4, 1.05, 20});
  measured("ring", {5, 5, 2, 1, 9});
  measured("direct", {9, 0.95, 9, 9, 9.5});
  CHECK(choice_tables(rows) ==
        "// choose_allreduce()\n  static const std::vector<Choice> table = {\n"
        "      {4, 8 * kKiB, \"doubling\"},\n      {4, kAnySize, \"ring\"},\n"
        "  };\n  return quickest(table, num_bytes, num_ranks);\n");

  for (BenchRow& row : rows) row.ranks = 8;
  rows.push_back(ours("ring", 2 << 20, 1));
  CHECK(contains(choice_tables(rows),
                 "  static const std::vector<Choice> table = {\n      {4, kAnySize, \"ring\"},\n"
                 "      {8, 8 * kKiB, \"doubling\"},\n      {8, kAnySize, \"ring\"},\n"));
  rows.push_back(ours("direct", 2 << 20, 1));
  rows.push_back(ours("direct", 8 << 20, 1));
  CHECK(testing::get_message<UsageError>([&] { choice_tables(rows); }) ==
        "ring was measured at 1 sizes, expected 2, as the others");
}

TEST_CASE("fit: over two transports, the algorithm with the least product of times") {
  std::vector<BenchRow> rows;
  const auto measured = [&](const char* algorithm, double gloo_seconds, double shm_seconds) {
    for (const double seconds : {gloo_seconds, shm_seconds}) rows.push_back(ours(algorithm, 1 << 10, seconds));
  };
  measured("quick over the first", 1, 9);
  measured("quick over the second", 7, 1);
  measured("good over both", 2, 2);
  CHECK(contains(choice_tables(rows), "= {\n      {4, kAnySize, \"good over both\"},\n  };"));
}

TEST_CASE("quickest: the line of the measured number of ranks that is nearest below, of its kind") {
  const std::vector<Choice> table = {{2, kAnySize, "two"},         {3, 1 * kKiB, "three small"}, {3, kAnySize, "three"},
                                     {4, 64 * kKiB, "four small"}, {4, 1 * kMiB, "four middle"}, {4, kAnySize, "four"}};
  CHECK(quickest(table, 1 << 20, 2) == "two");
  CHECK(quickest(table, 1 << 10, 3) == "three small");
  CHECK(quickest(table, (1 << 10) + 1, 3) == "three");
  CHECK(quickest(table, 0, 4) == "four small");
  CHECK(quickest(table, 1 << 20, 4) == "four middle");
  CHECK(quickest(table, kAnySize, 4) == "four");
  CHECK(quickest(table, 1 << 20, 1) == "two");
  // Beyond 4: at the same bytes per rank.
  CHECK(quickest(table, 1 << 20, 64) == "four small");
  CHECK(quickest(table, 2 << 20, 64) == "four middle");
  CHECK(quickest(table, 2 << 10, 6) == "three small");
  CHECK(quickest(table, 4 << 10, 6) == "three");
  const auto refusal = [&](const std::vector<Choice>& lines) {
    return testing::get_message<ContractError>([&] { quickest(lines, 5 << 10, 4); });
  };
  CHECK(contains(refusal({}), "expected a line for 5120 bytes on 4 ranks, got 0 lines, none of which fits; hint: "));
  CHECK(contains(refusal({{4, 4 * kKiB, "ring"}}), "got 1 lines"));
  CHECK(contains(refusal({{3, kAnySize, "ring"}}), "got 1 lines"));
}

}  // namespace
}  // namespace lab::a9
