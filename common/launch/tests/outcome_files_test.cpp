#include "common/launch/outcome_files.h"

#include <cmath>
#include <limits>

#include "common/base/files.h"
#include "common/launch/supervise/memory_file.h"
#include "common/testing/message_of.h"
#include "common/testing/test.h"

namespace lab::launch {
namespace {

std::vector<RankOutcome> two_outcomes() {
  std::vector<RankOutcome> outcomes(2);
  outcomes[0].tensors = {{"a/b", at::arange(3)}, {"empty", at::zeros({0, 2})}};
  outcomes[0].exit_code = ExitCode::kMismatch;
  outcomes[0].report.lines.emplace_back(
      log::JudgedLine{{"x", 0, false, std::numeric_limits<double>::quiet_NaN(), 1.0 / 3}, log::Expect::kDiffer});
  comm::TraceEvent event;
  event.direction = comm::Direction::kRecv;
  event.kind = comm::TraceKind::kCollective;
  event.sequence = std::numeric_limits<std::uint64_t>::max();
  event.bytes = -1;
  event.label = "\"layer 1\"";
  event.end_seconds = 0.1;
  event.model_period = 7;
  outcomes[0].trace = {event};
  outcomes[1] = lost_outcome(5, {137, "killed \xff", 5, "a9.allreduce"});
  return outcomes;
}

TEST_CASE("outcomes: what ranks return is the same in another process, to the bit") {
  const std::vector<RankOutcome> read = outcomes_from_bytes(bytes_of_outcomes(two_outcomes()));
  REQUIRE(read.size() == 2);
  CHECK(read[0].tensors.at("a/b").equal(at::arange(3)));
  CHECK(read[0].tensors.at("empty").sizes() == at::IntArrayRef{0, 2});
  CHECK(read[0].exit_code == ExitCode::kMismatch);
  CHECK_FALSE(read[0].failure);
  const auto& line = std::get<log::JudgedLine>(read[0].report.lines.at(0));
  CHECK(std::isnan(line.line.max_diff));
  CHECK(line.line.mean_diff == 1.0 / 3);
  const comm::TraceEvent event = read[0].trace.at(0), expected = two_outcomes()[0].trace.at(0);
  CHECK(event == expected);  // as a channel
  CHECK(event.kind == expected.kind);
  CHECK(event.sequence == expected.sequence);
  CHECK(event.bytes == -1);
  CHECK(event.label == expected.label);
  CHECK(event.end_seconds == 0.1);
  CHECK(event.model_period == 7);
  CHECK(read[1].tensors.empty());
  CHECK(read[1].report.rank == 5);
  REQUIRE(read[1].failure);
  CHECK(read[1].failure->exit_code == 137);
  CHECK(read[1].failure->message == "killed \uFFFD");
  CHECK(read[1].failure->task == "a9.allreduce");
}

TEST_CASE("outcomes: a file that is not complete holds none") {
  const MemoryFile whole("whole");
  save_outcomes(whole.fd(), two_outcomes());
  CHECK(load_outcomes(whole.fd()).size() == 2);
  const std::string bytes = bytes_of(whole.fd());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const MemoryFile part("part");
    REQUIRE(write_fully(part.fd(), std::string_view(bytes).substr(0, size)) == 0);
    CHECK(load_outcomes(part.fd()).empty());
  }
}

TEST_CASE("outcomes: bytes that are not outcomes are refused, with the field that is wrong") {
  CHECK_THROWS_AS(outcomes_from_bytes("{}"), UsageError);
  const std::string right = bytes_of_outcomes(two_outcomes());
  const auto refused_with = [&](const std::string& text, const std::string& other) {
    std::string wrong = right;
    wrong.replace(wrong.find(text), text.size(), other);
    return testing::message_of([&] { outcomes_from_bytes(wrong); });
  };
  CHECK(testing::contains(refused_with("crashed_rank", "crashed_hank"), "key 'crashed_rank' not found"));
  CHECK(testing::contains(refused_with("exit_code\\\":1", "exit_code\\\":x"),
                          "what a rank's process has left cannot be read"));
  CHECK(testing::contains(refused_with("18446744073709551615", "18446744073709551.15"), "not such an integer"));
}

}  // namespace
}  // namespace lab::launch
