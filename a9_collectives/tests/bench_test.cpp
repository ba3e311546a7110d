#include "a9_collectives/commands/bench.h"

#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "a9_collectives/choices.h"
#include "common/bench/bench_blocks.h"
#include "common/testing/message_of.h"
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
  row.alone_seconds = seconds * 3;
  row.switches = 2.25;
  row.bus_factor = 1.5;
  row.messages = 6;
  row.bytes_sent = static_cast<std::uint64_t>(bytes) * 3 / 2;
  row.rounds = 6;
  return row;
}

BenchRow peer(const std::string& name, std::int64_t bytes, double seconds) {
  BenchRow row = ours(name, bytes, seconds, false);
  row.transport.clear();
  row.messages = row.bytes_sent = row.rounds = 0;
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

TEST_CASE("bytes to get: what a rank does not have yet; a sum's as contributions and once more as the sum") {
  const auto to_get = [](const char* collective, int rank, int size) {
    return bytes_to_get(collective_named(collective), 12288, rank, size);
  };
  CHECK(to_get("broadcast", 0, 4) == 0);
  CHECK(to_get("broadcast", 3, 4) == 12288);
  CHECK(to_get("allgather", 1, 3) == 8192);
  CHECK(to_get("reduce_scatter", 1, 3) == 8192);
  CHECK(to_get("all_to_all", 0, 4) == 9216);
  CHECK(to_get("allreduce", 0, 4) == 18432);
  CHECK(to_get("allreduce", 0, 1) == 0);
}

TEST_CASE("table: a line has a word under every heading; a peer has dashes for what is not counted") {
  BenchRow row = ours("ring", 4096, 20e-6);
  row.ratio_to_gloo = 1.25;
  row.wrong = 7;
  CHECK(words(bench_line(row)) == std::vector<std::string>{"4096", "allreduce", "*", "ring", "10.0", "20.0", "40.0",
                                                           "60.0", "0.205", "0.307", "2.25", "6", "6144", "6", "1.25",
                                                           "-", "-", "7"});
  row.selected = false;
  CHECK(words(bench_line(row))[2] == "ring");
  CHECK(words(bench_line(peer("gloo", 4096, 20e-6))) ==
        std::vector<std::string>{"4096", "allreduce", "gloo", "10.0", "20.0", "40.0", "60.0", "0.205", "0.307", "2.25",
                                 "-", "-", "-", "-", "-", "-", "0"});
  const std::string header = bench_header();
  CHECK(bench_line(row).size() == header.find('\n'));
  CHECK(bench_line(peer("mpi shared memory", std::int64_t{1} << 30, 0.1)).size() == header.find('\n'));
}

TEST_CASE("JSON: every key that readers need; null for the ratio to a missing peer") {
  BenchRow row = ours("ring", 4096, 20e-6);
  row.ratio_to_gloo = 1.25;
  const auto json = nlohmann::json::parse(bench_json({row}));
  REQUIRE(json.size() == 1);
  for (const char* key : {"collective",
                          "algorithm",
                          "selected",
                          "bytes",
                          "ranks",
                          "min_seconds",
                          "median_seconds",
                          "max_seconds",
                          "alone_seconds",
                          "algbw",
                          "busbw",
                          "messages",
                          "bytes_sent",
                          "rounds",
                          "ratio_to_gloo",
                          "ratio_to_mpi",
                          "ratio_to_mpi_shared_memory",
                          "wrong",
                          "transport",
                          "context_switches"}) {
    CHECK_MESSAGE(json[0].contains(key), key);
  }
  CHECK(json[0].size() == 20);
  CHECK(json[0]["ratio_to_gloo"] == 1.25);
  CHECK(json[0]["ratio_to_mpi"].is_null());
  CHECK(json[0]["ratio_to_mpi_shared_memory"].is_null());
}

TEST_CASE("JSON: rows survive a round trip") {
  BenchRow row = ours("recursive_doubling", 4096, 1.0 / 3e6);
  row.ratio_to_gloo = 0.1;
  row.ratio_to_mpi = 0.2;
  row.ratio_to_mpi_shared = 0.3;
  row.wrong = 7;
  row.transport = "shm";
  const std::string text = bench_json({row, peer("gloo", 4096, 20e-6)});
  const std::vector<BenchRow> back = rows_of_json(text);
  REQUIRE(back.size() == 2);
  CHECK(back[0].median_seconds == row.median_seconds);
  CHECK(back[0].alone_seconds == row.alone_seconds);
  CHECK(back[0].switches == 2.25);
  CHECK(back[0].busbw() == doctest::Approx(row.busbw()));
  CHECK(back[0].ratio_to_mpi_shared == 0.3);
  CHECK(back[0].transport == "shm");
  CHECK(back[1].is_peer());
  CHECK(bench_json(back) == text);
}

TEST_CASE("ratios are of the medians, to the peer of this name; peers have none") {
  std::vector<BenchRow> rows = {ours("direct", 1024, 10e-6), ours("ring", 1024, 40e-6, false), peer("gloo", 1024, 5e-6),
                                peer("mpi tcp", 1024, 20e-6)};
  set_ratios(rows, "mpi tcp", &BenchRow::ratio_to_mpi);
  set_ratios(rows, "mpi shared memory", &BenchRow::ratio_to_mpi_shared);
  CHECK(rows[0].ratio_to_mpi == doctest::Approx(0.5));
  CHECK(rows[1].ratio_to_mpi == doctest::Approx(2));
  CHECK(rows[2].ratio_to_mpi == 0);
  CHECK(rows[3].ratio_to_mpi == 0);
  CHECK(rows[0].ratio_to_mpi_shared == 0);
  CHECK(rows[0].ratio_to_gloo == 0);
}

TEST_CASE("summary: geometric mean and worst cell of the selected rows with a peer, in the band") {
  std::vector<BenchRow> rows = {ours("direct", 1024, 1), ours("ring", 4096, 1), ours("ring", 1024, 1, false),
                                ours("rabenseifner", 1 << 20, 1), ours("ring", 1 << 21, 1)};
  rows[0].ratio_to_gloo = 0.5;
  rows[1].ratio_to_gloo = 4;
  rows[2].ratio_to_gloo = 100;  // not selected
  rows[3].ratio_to_gloo = 4;    // rows[4]: no such peer
  const RatioSummary all = summarise(rows, &BenchRow::ratio_to_gloo, {0, 1 << 30});
  CHECK(all.num_cells == 3);
  CHECK(all.num_slower == 2);
  CHECK(all.geometric_mean == doctest::Approx(2));
  CHECK(all.worst.bytes == 4096);
  const RatioSummary small = summarise(rows, &BenchRow::ratio_to_gloo, {0, 1024});
  CHECK(small.num_cells == 1);
  CHECK(small.num_slower == 0);
  CHECK(small.geometric_mean == doctest::Approx(0.5));
  CHECK(summarise(rows, &BenchRow::ratio_to_mpi, {0, 1 << 30}).num_cells == 0);
}

TEST_CASE("summary: a line per peer that was there; a size rounded down still counts as 64 MiB") {
  BenchRow row = ours("ring", (64 << 20) - 4, 1);
  row.ranks = 3;
  CHECK(summary_lines({row}).empty());
  row.ratio_to_gloo = 1.25;
  row.ratio_to_mpi = 0.75;
  const std::vector<std::string> lines = summary_lines({row});
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].find("gloo") != std::string::npos);
  CHECK(lines[0].find("geometric mean 1.25 of 1 cell, 1 above 1; worst 1.25: allreduce of") != std::string::npos);
  CHECK(lines[1].find("mpi tcp  ") != std::string::npos);
  CHECK(lines[2].find("mpi tcp, 64 MiB") != std::string::npos);
  CHECK(lines[2].find("0.75") != std::string::npos);
}

TEST_CASE("summary: a broadcast's calls alone, against the same peer's of the same size") {
  std::vector<BenchRow> rows = {ours("binomial", 1024, 2e-6), peer("gloo", 1024, 1e-6), ours("chain", 4096, 8e-6),
                                peer("gloo", 4096, 1e-6), peer("mpi tcp", 1 << 20, 1)};
  for (BenchRow& row : rows) row.collective = "broadcast";
  rows[0].alone_seconds = rows[1].alone_seconds / 2;
  CHECK(summary_lines(rows) ==
        std::vector<std::string>{
            "selected / gloo, broadcast alone               geometric mean 2.00 of 2 cells, 1 above 1; worst "
            "8.00: broadcast of 4 KiB, chain"});
  for (BenchRow& row : rows) row.collective = "allgather";
  CHECK(summary_lines(rows).empty());
}

TEST_CASE("turns: each has all contenders, and each of them is the first as often as the others") {
  constexpr std::size_t kNum = 5;
  std::vector<int> times_first(kNum, 0);
  for (int turn = 0; turn < 10; ++turn) {
    std::set<std::size_t> measured;
    for (std::size_t place = 0; place < kNum; ++place) measured.insert(rotated(turn, place, kNum));
    CHECK(measured.size() == kNum);
    CHECK(*measured.rbegin() == kNum - 1);
    ++times_first[rotated(turn, 0, kNum)];
  }
  CHECK(times_first == std::vector<int>(kNum, 2));
}

TEST_CASE("sizes: whole elements per rank, none twice; calls: fewer the larger they are") {
  CHECK(bench_sizes({4, 256, 4}, 3) == std::vector<std::int64_t>{12, 60, 252});
  CHECK(bench_sizes({1024, 1024, 4}, 4) == std::vector<std::int64_t>{1024});
  CHECK(whole_bytes(4096, 3) == 4092);
  CHECK(calls_per_block(4) == 40);
  CHECK(calls_per_block(1 << 20) == 2);
  CHECK(calls_per_block(64 << 20) == 1);
}

TEST_CASE("pictures: one name per collective where all run") {
  CHECK(chart_file("out.d/bench.png", "allreduce") == "out.d/bench_allreduce.png");
}

TEST_CASE("chart: what is picked and the peers, with a mark where another algorithm is picked") {
  const plot::Chart chart =
      bench_chart({ours("direct", 1024, 1e-6), ours("ring", 1024, 2e-6, false), peer("gloo", 1024, 3e-6),
                   ours("direct", 2048, 1e-6), peer("gloo", 2048, 3e-6), ours("ring", 4096, 1e-6)});
  REQUIRE(chart.series.size() == 2);
  CHECK(chart.series[0].name == "my_allreduce");
  CHECK(chart.series[0].x == std::vector<double>{1024, 2048, 4096});
  CHECK(chart.series[0].y[0] == doctest::Approx(1.536));
  CHECK(chart.series[1].name == "gloo");
  CHECK(chart.series[1].x.size() == 2);
  REQUIRE(chart.markers.size() == 2);
  CHECK(chart.markers[0].label == "direct");
  CHECK(chart.markers[1].x == 4096);
  CHECK(chart.markers[1].label == "4 KiB: ring");
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
  rows.push_back(peer("gloo", 1 << 10, 0.1));
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
  CHECK(testing::message_of<UsageError>([&] { choice_tables(rows); }) ==
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
    return testing::message_of<ContractError>([&] { quickest(lines, 5 << 10, 4); });
  };
  CHECK(contains(refusal({}), "expected a line for 5120 bytes on 4 ranks, got 0 lines, none of which fits; hint: "));
  CHECK(contains(refusal({{4, 4 * kKiB, "ring"}}), "got 1 lines"));
  CHECK(contains(refusal({{3, kAnySize, "ring"}}), "got 1 lines"));
}

}  // namespace
}  // namespace lab::a9
