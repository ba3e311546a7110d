#include "common/bench/collective_rows.h"

#include <iterator>
#include <sstream>

#include "common/bench/collective_data.h"
#include "common/testing/test.h"

// What the benchmark does with its figures; the figures themselves are not tested.
namespace lab {
namespace {

CollectiveRow make_row(const std::string& contender, std::int64_t bytes, double seconds) {
  CollectiveRow row{"allreduce", contender, contender == kOurs ? "gloo" : "", bytes, 4};
  row.min_seconds = seconds / 2;
  row.median_seconds = seconds;
  row.max_seconds = seconds * 2;
  row.alone_seconds = seconds * 3;
  row.context_switches = 2.25;
  row.bus_factor = 1.5;
  return row;
}

TEST_CASE("bandwidth: bytes over the median time, and the bus's share of them") {
  const CollectiveRow row = make_row(kOurs, 1 << 20, 1e-3);
  CHECK(row.algbw() == doctest::Approx(1.048576));
  CHECK(row.busbw() == doctest::Approx(1.5 * 1.048576));
}

TEST_CASE("bytes to get: what a rank does not have yet; a sum's as contributions and once more as the sum") {
  CHECK(bytes_to_get("broadcast", 12288, 0, 4) == 0);
  CHECK(bytes_to_get("broadcast", 12288, 3, 4) == 12288);
  CHECK(bytes_to_get("allgather", 12288, 1, 3) == 8192);
  CHECK(bytes_to_get("reduce_scatter", 12288, 1, 3) == 8192);
  CHECK(bytes_to_get("all_to_all", 12288, 0, 4) == 9216);
  CHECK(bytes_to_get("allreduce", 12288, 0, 4) == 18432);
  CHECK(bytes_to_get("allreduce", 12288, 0, 1) == 0);
}

TEST_CASE("expected results: of three ranks, part by part") {
  const auto input = [](int rank) { return collective_input(6, rank); };
  const at::Tensor sum = input(0) + input(1) + input(2);
  CHECK(expected_result("broadcast", 6, 2, 3).equal(input(0)));
  CHECK(expected_result("allreduce", 6, 2, 3).equal(sum));
  CHECK(expected_result("reduce_scatter", 6, 2, 3).equal(sum.slice(0, 4, 6)));
  CHECK(expected_result("allgather", 6, 2, 3).equal(at::cat({input(0), input(1), input(2)})));
  CHECK(expected_result("all_to_all", 6, 2, 3)
            .equal(at::cat({input(0).slice(0, 4, 6), input(1).slice(0, 4, 6), input(2).slice(0, 4, 6)})));
}

TEST_CASE("table: a line has a figure under every heading") {
  CollectiveRow row = make_row(kOurs, 4096, 20e-6);
  row.wrong = 7;
  std::istringstream line(collective_line(row));
  CHECK(std::vector<std::string>(std::istream_iterator<std::string>(line), {}) ==
        std::vector<std::string>{"4096", "allreduce", "collectives", "10.0", "20.0", "40.0", "60.0", "0.205", "0.307",
                                 "2.25", "7"});
  const std::string header = collective_header();
  CHECK(collective_line(row).size() == header.find('\n'));
  CHECK(collective_line(make_row("mpi shared memory", std::int64_t{1} << 30, 0.1)).size() == header.find('\n'));
}

TEST_CASE("JSON: rows survive a round trip") {
  const std::vector<CollectiveRow> rows = {make_row(kOurs, 4096, 1.0 / 3e6), make_row("gloo", 4096, 20e-6)};
  const auto back = from_json_text<std::vector<CollectiveRow>>(json_text(rows), "rows");
  REQUIRE(back.size() == 2);
  CHECK(back[0].is_ours());
  CHECK(back[0].transport == "gloo");
  CHECK(back[0].median_seconds == 1.0 / 3e6);
  CHECK(back[0].busbw() == doctest::Approx(1.5 * back[0].algbw()));
  CHECK_FALSE(back[1].is_ours());
  CHECK(collective_json(back) == collective_json(rows));
}

TEST_CASE("summary: geometric mean and worst cell of our rows by the peer's, in each band of sizes") {
  const std::vector<CollectiveRow> rows = {make_row(kOurs, 1024, 1),    make_row("mpi tcp", 1024, 2),
                                           make_row(kOurs, 4096, 1),    make_row("mpi tcp", 4096, 0.25),
                                           make_row(kOurs, 1 << 20, 4), make_row("mpi tcp", 1 << 20, 1),
                                           make_row(kOurs, 1 << 21, 1), make_row("mpi tcp", 1 << 22, 1)};
  CHECK(
      summary_lines(rows) ==
      std::vector<std::string>{"ours / mpi tcp                             geometric mean 2.00 of 3 cells, 2 above 1; "
                               "worst 4.00: allreduce of 4 KiB",
                               "ours / mpi tcp, 256 KiB to 4 MiB           geometric mean 4.00 of 1 cell, 1 above 1; "
                               "worst 4.00: allreduce of 1 MiB"});
  CHECK(summary_lines({make_row(kOurs, 1024, 1)}).empty());
}

TEST_CASE("summary: a size rounded down still counts as 64 MiB") {
  std::vector<CollectiveRow> rows = {make_row(kOurs, (64 << 20) - 4, 1), make_row("mpi tcp", (64 << 20) - 4, 2)};
  for (CollectiveRow& row : rows) row.ranks = 3;
  const std::vector<std::string> lines = summary_lines(rows);
  REQUIRE(lines.size() == 2);
  CHECK(lines[1].find("mpi tcp, 64 MiB ") != std::string::npos);
  CHECK(lines[1].find("0.50") != std::string::npos);
}

TEST_CASE("summary: a broadcast's calls alone, too") {
  std::vector<CollectiveRow> rows = {make_row(kOurs, 1024, 2e-6), make_row("gloo", 1024, 1e-6)};
  for (CollectiveRow& row : rows) row.collective = "broadcast";
  rows[0].alone_seconds = rows[1].alone_seconds / 2;
  CHECK(
      summary_lines(rows) ==
      std::vector<std::string>{
          "ours / gloo                                geometric mean 2.00 of 1 cell, 1 above 1; worst 2.00: broadcast "
          "of 1 KiB",
          "ours / gloo, broadcast alone               geometric mean 0.50 of 1 cell, 0 above 1; worst 0.50: broadcast "
          "of 1 KiB"});
}

}  // namespace
}  // namespace lab
