#include "vae_sequence_parallel/commands/markdown_log.h"

#include "common/testing/get_message.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

// The log to hand in: every check in a table, every message below it.
namespace lab::vae {
namespace {

log::RunReport two_ranks() {
  log::RunReport report;
  report.program = "vae_sequence_parallel";
  report.world = "processes";
  report.num_ranks = 2;
  report.seed = 7;
  report.wall_seconds = 1.25;
  log::RankReport first, second;
  first.rank = 0;
  first.lines = {std::string("[Rank 0] All ranks ready!"), log::JudgedLine{{"Conv2d", 0, true, 1.5e-7, 1e-8}},
                 log::SkippedLine{"Ulysses", 0, "8 heads do not divide by 3 ranks"},
                 log::JudgedLine{{"Jpegs", 0, true, 1, 0.1}}};
  second.rank = 1;
  second.lines = {log::JudgedLine{{"Conv2d", 1, false, 0.5, 0.25}},
                  log::SkippedLine{"Ulysses", 1, "8 heads do not divide"}};
  report.ranks = {first, second};
  return report;
}

TEST_CASE("a row per check, a column per rank, a cell that was not printed empty") {
  const std::string text = markdown_log(two_ranks());
  CHECK(testing::contains(text, "# vae_sequence_parallel: the log of a run\n"));
  CHECK(
      testing::contains(text, "2 ranks (processes), seed 7, 1.2 s. 2 comparisons matched, 1 did not, 2 were skipped."));
  CHECK(testing::contains(text, "| check | rank 0 | rank 1 |\n|---|---|---|\n"));
  CHECK(testing::contains(text, "| Conv2d | True 1.5e-07 | **False** 5.0e-01 |\n"));
  CHECK(testing::contains(text, "| Ulysses | skipped | skipped |\n"));
  CHECK(testing::contains(text, "| Jpegs | True 1.0e+00 |  |\n"));
  CHECK(testing::contains(text, "[Rank 0] All ranks ready!\n"));
  CHECK(testing::contains(text, "skipped: 8 heads do not divide by 3 ranks\n"));
  CHECK_FALSE(testing::contains(text, "The run failed"));
}

TEST_CASE("a run that failed says so") {
  log::RunReport report = two_ranks();
  report.error = "rank 1: killed by signal 9 (SIGKILL)";
  report.ranks.clear();
  CHECK(testing::contains(markdown_log(report), "The run failed: rank 1: killed by signal 9 (SIGKILL)\n"));
}

TEST_CASE("the log keeps a page of every action, the last of each") {
  const testing::TemporaryFolder folder;
  log::RunReport test = two_ranks();
  test.program = "vae_sequence_parallel test";
  const std::string encoded = action_page("vae_sequence_parallel encode", "encode: a picture");
  add_to_log(folder.file("out"), encoded);
  add_to_log(folder.file("out"), markdown_log(two_ranks()));
  add_to_log(folder.file("out"), markdown_log(test));
  const auto log = [&] { return testing::read_bytes(folder.file("out/vae_log.md")); };
  CHECK(log() == encoded + "\n" + markdown_log(two_ranks()) + "\n" + markdown_log(test));
  log::RunReport again = two_ranks();
  again.seed = 8;
  add_to_log(folder.file("out"), markdown_log(again));
  CHECK(log() == encoded + "\n" + markdown_log(test) + "\n" + markdown_log(again));
}

}  // namespace
}  // namespace lab::vae
