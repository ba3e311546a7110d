#include "grading/judge/claims.h"

#include "common/testing/get_message.h"
#include "common/testing/test.h"

namespace lab::grading {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

RankVerdict use(double cpu_seconds, std::int64_t seen_mebibytes, std::int64_t flops, std::int64_t claimed_mebibytes) {
  RankVerdict rank{CaseEnd::kReturned, Worth::kPassed};
  rank.used = {flops, {claimed_mebibytes * kMebibyte, 0}, {}};
  rank.seen = {cpu_seconds, seen_mebibytes * kMebibyte};
  return rank;
}

CaseVerdict returned(const std::vector<RankVerdict>& ranks) {
  CaseVerdict run{"Broadcast", Worth::kPassed};
  run.ranks = ranks;
  return run;
}

TEST_CASE("a claim is contradicted by far more CPU time or memory than the reference's, in proportion to the claims") {
  const RankVerdict reference = use(0.5, 100, 1000, 40);
  CHECK(find_contradiction(reference, reference) == "");
  CHECK(find_contradiction(use(1.9, 390, 1000, 40), reference) == "");
  CHECK(testing::contains(find_contradiction(use(2.1, 100, 1000, 40), reference),
                          "used 2.1 s of CPU time where the reference used 0.5 s"));
  CHECK(testing::contains(find_contradiction(use(0.5, 410, 1000, 40), reference),
                          "held 410 MiB where the reference held 100 MiB, but counted 40 MiB"));
  // Who does ten times the work and says so is slow or wasteful, not dishonest.
  CHECK(find_contradiction(use(15, 900, 10000, 400), reference) == "");
  // Who claims less than the reference is not given more for it.
  CHECK(find_contradiction(use(1.9, 390, 0, 0), reference) == "");
}

TEST_CASE("nothing is made of small differences") {
  const RankVerdict idle = use(0.01, 1, 0, 0);
  CHECK(find_contradiction(use(0.9, 60, 0, 0), idle) == "");
  CHECK(find_contradiction(use(1.1, 1, 0, 0), idle) != "");
  CHECK(find_contradiction(use(0.01, 70, 0, 0), idle) != "");
  CHECK_FALSE(is_suspicious(use(0.9, 60, 0, 0)));
  CHECK(is_suspicious(use(1.1, 1, 0, 0)));
  CHECK(is_suspicious(use(0.1, 70, 0, 1)));
  CHECK_FALSE(is_suspicious(use(0.1, 100, 0, 10)));
  CHECK_FALSE(is_suspicious(use(5, 1, 1'000'000'000, 0)));
}

TEST_CASE("the reference runs only if a rank is suspicious, and the rank is named") {
  Case test_case;
  test_case.name = "Broadcast";
  int num_runs = 0;
  const ClaimCheck claims([&](const Case& asked, int num_ranks) {
    ++num_runs;
    CHECK(asked.name == "Broadcast");
    return returned(std::vector<RankVerdict>(static_cast<std::size_t>(num_ranks), use(0.1, 1, 0, 0)));
  });
  const RankVerdict honest = use(0.2, 2, 0, 0), busy = use(3, 2, 0, 0);
  CHECK(claims.contradiction(test_case, 2, returned({honest, honest})) == "");
  CHECK(num_runs == 0);
  CHECK(testing::contains(claims.contradiction(test_case, 2, returned({honest, busy})),
                          "needs a look: on 2 ranks, rank 1 used 3.0 s"));
  CHECK(num_runs == 1);
}

}  // namespace
}  // namespace lab::grading
