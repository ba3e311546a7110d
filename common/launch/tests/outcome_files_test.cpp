#include "common/launch/outcome_files.h"

#include <unistd.h>

#include <cmath>
#include <limits>

#include "common/base/files.h"
#include "common/launch/supervise/memory_file.h"
#include "common/testing/get_message.h"
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
  std::vector<RankOutcome> read;
  for (const RankOutcome& outcome : two_outcomes()) read.push_back(outcome_from_bytes(bytes_of_outcome(outcome)));
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

LeftInFile find_left(std::string_view bytes, std::uint64_t max_bytes = 1 << 30) {
  const MemoryFile file("part");
  REQUIRE(write_fully(file.fd(), bytes) == 0);
  return load_outcomes(file.fd(), max_bytes);
}

TEST_CASE("outcomes: what is kept is there by rank, also where the outcome is not, or not complete") {
  const MemoryFile whole("whole");
  std::vector<RankOutcome> outcomes = two_outcomes();
  outcomes[0].kept_in = whole.fd();
  outcomes[0].keep("one");
  outcomes[0].keep(std::string("\0two", 4));
  const std::size_t num_kept = view_bytes(whole.fd()).size();
  outcomes[1].keep("other");
  for (const RankOutcome& outcome : outcomes) save_outcome(whole.fd(), outcome);
  const LeftInFile left = load_outcomes(whole.fd());
  CHECK(left.broken.empty());
  REQUIRE(left.ranks.size() == 2);
  CHECK(left.ranks.at(0).kept == std::vector<std::string>{"one", std::string("\0two", 4)});
  CHECK(left.ranks.at(5).kept == std::vector<std::string>{"other"});
  CHECK(left.ranks.at(0).outcome->exit_code == ExitCode::kMismatch);
  const std::string bytes = view_bytes(whole.fd());
  for (std::size_t size = num_kept; size < bytes.size(); ++size) {
    const LeftInFile part = find_left(std::string_view(bytes).substr(0, size));
    const auto last = part.ranks.find(5);
    CHECK((last == part.ranks.end() || !last->second.outcome));
    CHECK((part.broken.empty() || testing::contains(part.broken, "it should have")));
    CHECK(part.ranks.at(0).kept.size() == 2);
  }
}

TEST_CASE("outcomes: lengths that lie are refused before they are believed, and a file of a petabyte costs nothing") {
  CHECK(testing::contains(find_left(std::string(16, '\xFF')).broken,
                          "part 1: it should have 18446744073709551615 bytes"));
  CHECK(testing::contains(find_left("short").broken, "part 1: it should have 0 bytes"));
  const MemoryFile one("one");
  keep_in_file(one.fd(), 0, "twelve bytes");
  const std::string bytes = view_bytes(one.fd());
  CHECK(testing::contains(find_left(bytes + bytes, bytes.size() + 20).broken, "part 2: it ends beyond the"));
  CHECK(testing::contains(testing::get_message([] { keep_in_file(-1, 0, "x"); }), "cannot pass on a rank's results"));
  CHECK(testing::contains(load_outcomes(-1).broken, "it cannot be read"));
  const MemoryFile large("large");
  const std::uint64_t header[2] = {std::uint64_t{1} << 49, 0};
  REQUIRE(write_fully(large.fd(), {reinterpret_cast<const char*>(header), sizeof(header)}) == 0);
  REQUIRE(::ftruncate(large.fd(), std::int64_t{1} << 50) == 0);
  CHECK(testing::contains(load_outcomes(large.fd()).broken, "it ends beyond the"));
}

TEST_CASE("outcomes: bytes that are not outcomes are refused, with the field that is wrong") {
  CHECK_THROWS_AS(outcome_from_bytes("{}"), UsageError);
  const std::string right = bytes_of_outcome(two_outcomes()[0]);
  const auto refused_with = [&](const std::string& text, const std::string& other) {
    std::string wrong = right;
    wrong.replace(wrong.find(text), text.size(), other);
    return testing::get_message([&] { outcome_from_bytes(wrong); });
  };
  CHECK(testing::contains(refused_with("exit_code\\\"", "exit_mode\\\""), "key 'exit_code' not found"));
  CHECK(testing::contains(refused_with("exit_code\\\":1", "exit_code\\\":x"),
                          "expected the results of a rank's process: "));
  CHECK(testing::contains(refused_with("18446744073709551615", "18446744073709551.15"),
                          "expected an integer in range, got 1.8446744073709552e+16"));
}

}  // namespace
}  // namespace lab::launch
