#include "common/bench/twin.h"

#include <functional>
#include <future>
#include <thread>
#include <utility>

#include "common/api/errors.h"
#include "common/launch/supervise/run_directory.h"
#include "common/testing/test.h"

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

TEST_CASE("with one twin, all of its peer are lost at once: its ranks would wait for the one that is gone") {
  const launch::RunDirectory directory;
  Twin waits(directory.path(), "peer", 0), gone(directory.path(), "peer", 1), other(directory.path(), "other", 0);
  const auto until_asked = [&](const char* name, int rank, const std::function<TwinAnswer(const TwinBlock&)>& run) {
    return std::thread([&directory, name, rank, run] {
      try {
        serve_as_twin(directory.path(), name, rank, "a peer", run);
      } catch (const UsageError&) {
      }
    });
  };
  std::promise<void> end;
  std::thread stuck = until_asked("peer", 0, [&](const TwinBlock&) {
    end.get_future().wait();
    return TwinAnswer();
  });
  std::thread killed = until_asked("peer", 1, [](const TwinBlock&) -> TwinAnswer { throw UsageError("killed"); });
  std::thread well = until_asked("other", 0, [](const TwinBlock&) { return TwinAnswer(); });
  constexpr double kFarTooLong = 1e6;
  for (Twin* twin : {&waits, &gone, &other}) twin->ask({"broadcast", 4, 1}, kFarTooLong);
  CHECK_FALSE(gone.answer());
  CHECK_FALSE(waits.answer());  // and does not wait for long
  CHECK(other.answer());
  end.set_value();
  { const Twin closed = std::move(waits), also = std::move(other); }  // which ends them
  for (std::thread* thread : {&stuck, &killed, &well}) thread->join();
}

TEST_CASE("a twin whose program has ended before it came is lost at once") {
  const launch::RunDirectory directory;
  Twin twin(directory.path(), "peer", 0);
  twin.watch([] { return true; });
  constexpr double kFarTooLong = 1e6;
  twin.ask({"broadcast", 4, 1}, kFarTooLong);
  CHECK(twin.is_lost());
}

TEST_CASE("a twin without a rank fails") {
  const launch::RunDirectory directory;
  CHECK_THROWS_AS(serve_as_twin(directory.path(), "alone", 0, "a peer", [](const TwinBlock&) { return TwinAnswer(); }),
                  UsageError);
}

}  // namespace
}  // namespace lab
