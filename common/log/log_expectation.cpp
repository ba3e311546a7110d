#include "common/log/log_expectation.h"

#include <string>
#include <utility>

#include "common/api/errors.h"

namespace lab::log {

LogExpectation::LogExpectation(int num_ranks, std::string of_world) : world(std::move(of_world)) {
  if (num_ranks < 1) {
    throw UsageError("a log's number of ranks: expected at least 1, got " + std::to_string(num_ranks));
  }
  per_rank.resize(static_cast<std::size_t>(num_ranks));
}

void LogExpectation::add(int rank, const ExpectedLine& line) {
  std::vector<ExpectedLine>& lines = per_rank.at(static_cast<std::size_t>(rank));
  added.push_back({rank, lines.size()});
  lines.push_back(line);
}

void LogExpectation::add_on_every_rank(const ExpectedLine& line) {
  for (int rank = 0; rank < num_ranks(); ++rank) add(rank, line);
}

}  // namespace lab::log
