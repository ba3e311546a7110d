#include "common/log/expected_run.h"

#include <cmath>

#include "common/api/errors.h"
#include "common/log/tests/sample_log.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

namespace lab::log {
namespace {

/// A program whose lines depend on the number of ranks in every way that there is.
LogExpectation some_log(int num_ranks) {
  LogExpectation log(num_ranks);
  log.add_on_every_rank(ExpectedText{"[Init] Rank {rank} initialized on {node}."});
  log.add(0, rank_text("ready"));
  log.add(0, ExpectedMatch{"", false, 0, "1.193051e-01", "3.029096e-02"});
  log.add(num_ranks - 1, ExpectedMatch{"Outputs", true, 1e-6, "", ""});
  if (num_ranks == 3) log.add_on_every_rank(ExpectedSkip{"Heads", "4 heads do not divide by 3 ranks"});
  if (num_ranks == 4) log.add_on_every_rank(ExpectedSkip{"Heads", "14 ranks of 4 ranks"});
  if (num_ranks < 3) log.add_on_every_rank(ExpectedMatch{"Heads", true, 0, "", ""});
  for (int layer = 0; layer < 4; ++layer)
    log.add(layer % num_ranks, ExpectedMatch{"Layer" + std::to_string(layer), true, 0, "", ""});
  log.add_on_every_rank(rank_text("done"));
  return log;
}

bool same(const LogExpectation& a, const LogExpectation& b) {
  return a.per_rank == b.per_rank;
}

ExpectedRun all_sizes() {
  ExpectedRun all{"test --world sim", {}, {}};
  for (int num_ranks = 1; num_ranks <= 4; ++num_ranks) merge(all, expected_run(all.options, some_log(num_ranks)));
  return all;
}

constexpr const char* kText = R"(run test --world sim
ranks 1-4
all | text | [Init] Rank {rank} initialized on {node}.
0 | text | [Rank {rank}] ready
0 | False exactly 1.193051e-01 3.029096e-02 |
last | True max 1e-06 | Outputs
all on 1-2 | True max 0 | Heads
all on 3 | skipped | Heads | 4 heads do not divide by {ranks} ranks
all on 4 | skipped | Heads | 14 ranks of {ranks} ranks
0 | True max 0 | Layer0
1 on 2-4; all on 1 | True max 0 | Layer1
0 on 1-2; 2 on 3-4 | True max 0 | Layer2
last on 1-2,4; 0 on 3 | True max 0 | Layer3
all | text | [Rank {rank}] done
)";

TEST_CASE("expected run: what is printed on each number of ranks is one list, and comes out of it as it went in") {
  const ExpectedRun all = all_sizes();
  for (int num_ranks = 1; num_ranks <= 4; ++num_ranks) {
    CAPTURE(num_ranks);
    CHECK(same(expectation_on(all, num_ranks), some_log(num_ranks)));
  }
  CHECK(same(expectation_on(expected_run("", testing::sample_expectation()), 3), testing::sample_expectation()));
}

TEST_CASE("expected run: the text has one line for each, and reads back as the same run") {
  CHECK(to_text(all_sizes()) == kText);
  const std::vector<ExpectedRun> read = expected_runs("# by hand\n\n" + std::string(kText) + "run\nranks 1\n", "x");
  REQUIRE(read.size() == 2);
  CHECK(to_text(read[0]) == kText);
  CHECK(read[0].options == "test --world sim");
  CHECK(read[1].options == "");
  for (int num_ranks = 1; num_ranks <= 4; ++num_ranks)
    CHECK(same(expectation_on(read[0], num_ranks), some_log(num_ranks)));
}

TEST_CASE("expected run: a line that appears again, or elsewhere, stays in its place") {
  const auto make_log = [](const std::vector<std::string>& texts) {
    LogExpectation log(static_cast<int>(texts.size()));
    for (const std::string& text : texts) log.add(0, ExpectedText{text});
    return log;
  };
  ExpectedRun all{"", {}, {}};
  const std::vector<std::vector<std::string>> texts = {{"b"}, {"a", "a"}, {"b", "a", "b"}, {"a", "b", "b", "a"}};
  for (const auto& each : texts) merge(all, expected_run("", make_log(each)));
  for (const auto& each : texts) CHECK(same(expectation_on(all, static_cast<int>(each.size())), make_log(each)));
}

TEST_CASE("expected run: a number of ranks that is not among the sizes is refused") {
  CHECK(testing::get_message([] { expectation_on(all_sizes(), 5); }) ==
        "a run on 5 ranks: expected one of the numbers of ranks whose lines are known, 1-4");
}

TEST_CASE("expected run: a text that is not one is refused, with the line and what was expected") {
  const auto refusal = [](const std::string& text) {
    return testing::get_message([&] { expected_runs(text, "a9/expected_log.txt"); });
  };
  CHECK(refusal("all | text | x\n") ==
        "a9/expected_log.txt: line 1: expected run, and the options that change its lines; got 'all | text | x'");
  for (const char* ranks :
       {"all | text | x", "ranks", "ranks 0-2", "ranks 2-1", "ranks 1,2", "ranks 1-", "ranks 1-9999999"})
    CHECK(refusal("run\n" + std::string(ranks) + "\n").find("line 2: expected ranks, and the numbers of ranks") == 21);
  for (const char* line : {"x",
                           "all",
                           "all | text",
                           "all | txt | x",
                           "3 | text | x",
                           "0-1 on 2;1 on 3 | text | x",
                           "0 on 4 | text | x",
                           "0 on 1; 0 on 1 | text | x",
                           "0 on 1; all | text | x",
                           " | text | x",
                           "all | True | x",
                           "all | True max -1 | x",
                           "all | True max nan | x",
                           "all | True max 1e | x",
                           "all | False max 0 | x",
                           "all | False exactly 1 2 | x",
                           "all | False exactly 1.193051e-01 | x",
                           "all | skipped | x",
                           "all | text |x",
                           "all|text|x"}) {
    CAPTURE(line);
    CHECK(refusal("run\nranks 1-3\n" + std::string(line) + "\n").find("line 3: expected RANKS | KIND | CONTENT") == 21);
  }
  CHECK(expected_runs("", "x").empty());
}

TEST_CASE("expected run: a line that has no form in the text is refused when it is written") {
  for (const ExpectedLine& line : {ExpectedLine(ExpectedText{"a\nb"}), ExpectedLine(ExpectedSkip{"a |b", "c"}),
                                   ExpectedLine(ExpectedMatch{"x", true, std::nan(""), "", ""}),
                                   ExpectedLine(ExpectedMatch{"x", true, 0, "about 1", ""})}) {
    LogExpectation log(1);
    log.add(0, line);
    CHECK_THROWS_AS(to_text(expected_run("", log)), ContractError);
  }
}

}  // namespace
}  // namespace lab::log
