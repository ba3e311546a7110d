#include "grading/marks/expected_cells.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>

namespace lab::grading {
namespace {

std::vector<std::string> broadcast_values(int src, int factor) {
  std::vector<std::string> cells;
  for (int rank = 0; rank < 4; ++rank) {
    for (const char* name : {"x", "y"})
      cells.push_back(fmt::format("rank {}, printed {}: {}", rank, name, factor * (src + 1)));
  }
  return cells;
}

std::vector<std::string> sums_so_far(int first) {
  std::vector<std::string> cells;
  int sum = first;
  for (int rank = 1; rank < 4; ++rank) {
    sum += rank + first;
    cells.push_back(fmt::format("after root 0 received from rank {}: {}", rank, sum));
  }
  for (int rank = 0; rank < 4; ++rank) cells.push_back(fmt::format("rank {}, final value: {}", rank, sum));
  return cells;
}

std::vector<std::string> gathered_layout(int offset) {
  std::vector<int> content;
  for (int rank = 0; rank < 3; ++rank) {
    content.push_back(rank);
    content.push_back(rank + offset);
  }
  std::vector<std::string> cells;
  for (int rank = 0; rank < 3; ++rank) {
    cells.push_back(fmt::format("rank {}, shape of y: 6", rank));
    cells.push_back(fmt::format("rank {}, content of y: {}", rank, fmt::join(content, " ")));
  }
  return cells;
}

/// A5's last row, that of the defaults.
std::vector<std::string> pipeline_messages(const QuestionNumbers& numbers) {
  const std::int64_t batch = numbers.at("micro_batch"), sequence = numbers.at("sequence"),
                     hidden = numbers.at("hidden");
  const std::int64_t bytes = batch * sequence * hidden * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t num_messages =
      std::int64_t{2} * numbers.at("micro_batches") * (numbers.at("stages") - 1);  // there and back
  return {fmt::format("shape: {} {} {}", batch, sequence, hidden), fmt::format("bytes of a message: {}", bytes),
          fmt::format("messages of a batch: {}", num_messages),
          fmt::format("bytes of a batch: {}", bytes * num_messages)};
}

}  // namespace

std::vector<std::string> expected_cells(const std::string& manual_id, const QuestionNumbers& numbers) {
  const auto has = [&](const char* name) { return numbers.count(name) != 0; };
  if (manual_id == "a5.written_q3" && has("micro_batch") && has("sequence") && has("hidden") && has("stages") &&
      has("micro_batches"))
    return pipeline_messages(numbers);
  if (manual_id == "a9.written_q1" && has("src") && has("factor"))
    return broadcast_values(numbers.at("src"), numbers.at("factor"));
  if (manual_id == "a9.written_q2" && has("first")) return sums_so_far(numbers.at("first"));
  if (manual_id == "a9.written_q3" && has("offset")) return gathered_layout(numbers.at("offset"));
  return {};
}

}  // namespace lab::grading
