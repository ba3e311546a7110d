#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "a9_collectives/allgather.h"
#include "a9_collectives/allreduce.h"
#include "a9_collectives/broadcast.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// The numbers in the reference answers are those that the code gives.
namespace lab::a9 {
namespace {

/// The lines of the reference answers between one heading and the next.
std::string answer_to(const std::string& heading) {
  const char* source_dir = std::getenv("LAB_SOURCE_DIR");
  REQUIRE_MESSAGE(source_dir != nullptr, "LAB_SOURCE_DIR: where the sources are");
  std::ifstream file(std::string(source_dir) + "/a9_collectives/answers/written_answers_task1.md");
  std::ostringstream whole;
  whole << file.rdbuf();
  const std::string text = whole.str();
  const std::size_t begin = text.find("## " + heading);
  REQUIRE(begin != std::string::npos);
  return text.substr(begin, text.find("\n## ", begin) - begin);
}

/// The cells of the table row that begins with `first`, without blanks around them.
std::vector<std::string> make_row(const std::string& answer, const std::string& first) {
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream parts(line);
    for (std::string cell; std::getline(parts, cell, '|');) {
      const std::size_t begin = cell.find_first_not_of(' ');
      if (begin != std::string::npos) cells.push_back(cell.substr(begin, cell.find_last_not_of(' ') - begin + 1));
    }
    if (!cells.empty() && cells.front() == first) return cells;
  }
  return {};
}

/// As Python prints a float.
std::string python(const at::Tensor& value) {
  return fmt::format("{:.1f}", value.item().toDouble());
}

std::vector<TensorMap> on_ranks(int size, const std::function<TensorMap(int rank, PointToPoint&)>& body) {
  const auto outcome =
      launch::run_ranks(threads(size), [&](Communicator& comm) { return body(comm.rank(), comm.point_to_point()); });
  REQUIRE_FALSE(outcome.failure);
  std::vector<TensorMap> results;
  for (const launch::RankOutcome& rank : outcome.ranks) results.push_back(rank.tensors);
  return results;
}

TEST_CASE("Q1: what each rank prints after the broadcast") {
  const std::string answer = answer_to("Q1.");
  const auto results = on_ranks(4, [](int rank, PointToPoint& p2p) {
    const at::Tensor x = at::full({1}, 10.0 * (rank + 1));
    const at::Tensor y = my_broadcast(x, 1, p2p);
    return TensorMap{{"x", x}, {"y", y}};
  });
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const std::vector<std::string> expected = {fmt::format("{}", rank), python(results[rank].at("x")),
                                               python(results[rank].at("y"))};
    CHECK(make_row(answer, fmt::format("{}", rank)) == expected);
  }
}

TEST_CASE("Q2: the accumulation on root 0 after each receive, and the final value") {
  const std::string answer = answer_to("Q2.");
  const auto sums = [](int size) {
    return on_ranks(size, [](int rank, PointToPoint& p2p) {
      return TensorMap{{"sum", allreduce_gather_broadcast(at::full({1}, rank + 1.0), p2p)}};
    });
  };
  // With one rank fewer, the sum ends one receive earlier.
  for (int size = 2; size <= 4; ++size) {
    const auto row = make_row(answer, fmt::format("rank {}", size - 1));
    REQUIRE(row.size() >= 2);
    CHECK(row[1] == python(sums(size)[0].at("sum")));
  }
  const auto final_values = sums(4);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const std::vector<std::string> expected = {fmt::format("{}", rank), python(final_values[rank].at("sum"))};
    CHECK(make_row(answer, fmt::format("{}", rank)) == expected);
  }
}

TEST_CASE("Q3: shape and content of the gathered tensor") {
  const std::string answer = answer_to("Q3.");
  const auto results = on_ranks(3, [](int rank, PointToPoint& p2p) {
    return TensorMap{{"y", my_allgather(at::tensor({1.0F * rank, rank + 10.0F}), p2p)}};
  });
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const at::Tensor y = results[rank].at("y");
    std::string content;
    for (std::int64_t i = 0; i < y.numel(); ++i) content += (i == 0 ? "" : ", ") + python(y[i]);
    const std::vector<std::string> expected = {fmt::format("{}", rank), fmt::format("[{}]", y.numel()),
                                               "[" + content + "]"};
    REQUIRE(y.dim() == 1);
    CHECK(make_row(answer, fmt::format("{}", rank)) == expected);
  }
}

}  // namespace
}  // namespace lab::a9
