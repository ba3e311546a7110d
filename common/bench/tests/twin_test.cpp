#include "common/bench/twin.h"

#include <thread>

#include "common/base/errors.h"
#include "common/launch/supervise/run_directory.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

constexpr double kLong = 60;

TEST_CASE("a twin answers each block, until its rank is gone") {
  const launch::RunDirectory directory;
  std::string heard;
  std::thread twin;
  {
    Twin asked(directory.path(), "mpi tcp", 3);
    CHECK_FALSE(asked.has_come(0));
    twin = std::thread([&] {
      serve_as_twin(directory.path(), "mpi tcp", 3, "Open MPI v4", [&](const TwinBlock& block) {
        heard += block.collective + " " + std::to_string(block.bytes) + " " + std::to_string(block.calls) + ";";
        return TwinAnswer{block.calls / 8.0, block.bytes, block.calls / 16.0};
      });
    });
    for (const int calls : {2, 0}) {
      asked.ask({"all_to_all", std::int64_t{1} << 32, calls}, kLong);
      const std::optional<TwinAnswer> answer = asked.answer();
      REQUIRE(answer);
      CHECK(answer->seconds == calls / 8.0);
      CHECK(answer->wrong == std::int64_t{1} << 32);
      CHECK(answer->switches == calls / 16.0);
    }
    CHECK(asked.library() == "Open MPI v4");
  }
  twin.join();
  CHECK(heard == "all_to_all 4294967296 2;all_to_all 4294967296 0;");
}

TEST_CASE("a twin that does not come, or is gone, is lost and not asked again") {
  const launch::RunDirectory directory;
  Twin missing(directory.path(), "missing", 0);
  missing.ask({"broadcast", 4, 1}, 0.01);
  CHECK(missing.is_lost());
  CHECK_FALSE(missing.answer());

  Twin fails(directory.path(), "fails", 0);
  int num_blocks = 0;
  std::thread twin([&] {
    const auto run = [&](const TwinBlock&) -> TwinAnswer {
      if (++num_blocks > 1) throw UsageError("no more");
      return {};
    };
    CHECK_THROWS_AS(serve_as_twin(directory.path(), "fails", 0, "a peer", run), UsageError);
  });
  fails.ask({"broadcast", 4, 1}, kLong);
  CHECK(fails.answer());
  fails.ask({"broadcast", 4, 1}, kLong);
  CHECK_FALSE(fails.answer());
  twin.join();
  fails.ask({"broadcast", 4, 1}, kLong);
  CHECK_FALSE(fails.answer());
  CHECK(num_blocks == 2);
}

TEST_CASE("a twin without a rank fails") {
  const launch::RunDirectory directory;
  CHECK_THROWS_AS(serve_as_twin(directory.path(), "alone", 0, "a peer", [](const TwinBlock&) { return TwinAnswer(); }),
                  UsageError);
}

}  // namespace
}  // namespace lab
