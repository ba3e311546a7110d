#include "grading/judge/log_evidence.h"

#include "common/base/text.h"
#include "common/testing/test.h"

namespace lab::grading {
namespace {

/// A line of text, then a comparison that must match and one that must not, on every rank.
log::LogExpectation expected_log(int num_ranks) {
  log::LogExpectation log(num_ranks);
  log.add_on_every_rank(log::ExpectedText{"[Rank {rank}] begins"});
  log.add_on_every_rank(log::ExpectedMatch{"Sum", true, 1e-6, "", ""});
  log.add_on_every_rank(log::ExpectedMatch{"Step", false, 1e-6, "", ""});
  return log;
}

std::string right_log(int num_ranks) {
  std::string text;
  for (int rank = 0; rank < num_ranks; ++rank) {
    const std::string mark = "[Rank " + std::to_string(rank) + "]";
    text += mark + " begins\n";
    text += "[Sum]" + mark + " Tensors match: True | Max diff: 1.000000e-07 | Mean diff: 1.000000e-08\n";
    text += "[Step]" + mark + " Tensors match: False | Max diff: 1.000000e-01 | Mean diff: 1.000000e-02\n";
  }
  return text;
}

std::string evidence(const std::string& name, const std::string& text) {
  const auto found = evidence_of_logs({{name, text}}, expected_log);
  return found.count(name) != 0 ? found.at(name) : "none";
}

TEST_CASE("log evidence: a right log is one, on its own number of ranks, however it was captured") {
  for (const int num_ranks : {1, 3, 4}) {
    CHECK(evidence("a4.log", right_log(num_ranks)) ==
          "is exactly the log of a right run on " + counted(num_ranks, "rank"));
  }
  std::string windows = right_log(4);
  for (std::size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2) windows.insert(at, "\r");
  CHECK(evidence("a4.log", windows) == "is exactly the log of a right run on 4 ranks");
  std::string stamped = right_log(2);
  for (std::size_t at = 0; at < stamped.size(); at = stamped.find('\n', at) + 1) stamped.insert(at, "12:34:56 \x1B[0m");
  CHECK(evidence("a4.log", stamped) == "is exactly the log of a right run on 2 ranks");
}

TEST_CASE("log evidence: what is wrong with a log is said") {
  std::string wrong = right_log(2);
  wrong.replace(wrong.find("True"), 4, "False");
  CHECK(evidence("a4.log", wrong).find("is not the log of a right run on 2 ranks: line 2: ") == 0);
  CHECK(evidence("a4.log", "").find("the log is empty") != std::string::npos);
  CHECK(evidence("a4.log", "[Rank 2000000000] begins\n").find("is not the log of a right run on 1 rank:") == 0);
}

TEST_CASE("log evidence: the tables of a log in Markdown show each comparison on each rank") {
  const std::string table =
      "# A run\n\n| check | rank 0 | rank 1 |\n|---|---|---|\n"
      "| Sum | True 1.0e-07 | True 1.0e-07 |\n";
  CHECK(evidence("vae_log.md", table + "| Step | **False** 1.0e-01 | False 1.0e-01 |\n") ==
        "shows all 4 comparisons of a right run on 2 ranks");
  CHECK(evidence("vae_log.md", table + "\n## Later\n\n| Step | False | True |\n") ==
        "shows 3 of the 4 comparisons of a right run on 2 ranks; Step on rank 1 is True");
  CHECK(evidence("vae_log.md", table) ==
        "shows 2 of the 4 comparisons of a right run on 2 ranks; Step on rank 0 is missing");
}

TEST_CASE("log evidence: not from other files, nor for a lab without a log") {
  CHECK(evidence("a4.err", right_log(4)) == "none");
  CHECK(evidence("report.md", right_log(4)) == "none");
  CHECK(evidence_of_logs({{"a4.log", right_log(4)}}, nullptr).empty());
}

}  // namespace
}  // namespace lab::grading
