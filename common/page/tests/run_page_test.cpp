#include "common/page/run_page.h"

#include <nlohmann/json.hpp>

#include "common/api/errors.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

namespace lab::page {
namespace {

using testing::contains;

nlohmann::json a_run() {
  const nlohmann::json lines = {{{"kind", "text"}, {"text", "<b>hello</b>"}},
                                {{"kind", "match"},
                                 {"prefix", "[Output]"},
                                 {"rank", 0},
                                 {"match", true},
                                 {"expected", true},
                                 {"max_diff", 2.5e-7},
                                 {"mean_diff", 1e-9}},
                                {{"kind", "skipped"}, {"prefix", "[Ring]"}, {"rank", 0}, {"reason", "one rank"}}};
  const nlohmann::json ledger = {{{"operation", "send"},
                                  {"calls", 3},
                                  {"messages", 3},
                                  {"bytes_sent", 1234567},
                                  {"bytes_received", 0},
                                  {"rounds", 2}}};
  const nlohmann::json rank = {{"rank", 0}, {"lines", lines}, {"error", ""}, {"ledger", ledger}};
  nlohmann::json other = rank;
  other["rank"] = 1;
  other["lines"][1]["match"] = false;
  other["lines"][1]["max_diff"] = "nan";
  return {{"program", "a9_collectives"},
          {"version", "0.1.0"},
          {"world", "threads"},
          {"num_ranks", 2},
          {"seed", 42},
          {"exit_code", 1},
          {"error", ""},
          {"wall_seconds", 0.25},
          {"model_rates", "10 GFLOP/s"},
          {"sharing",
           {{{"name", "AllReduce"},
             {"model_seconds", 0.00125},
             {"waiting", 0.5},
             {"speed_up", 1.6},
             {"work", nullptr},
             {"peak", 0.75}}}},
          {"ranks", {rank, other}}};
}

TEST_CASE("a run's page shows its outcome, what was counted, and what each rank printed") {
  const std::string page = run_page(a_run().dump(), "r.json");
  for (const char* part :
       {"a9_collectives on 2 ranks", "exit code 1", "threads", "10 GFLOP/s", "AllReduce", "1.25 ms", "1.60", "0.75",
        "50 %", "1 234 567", "&lt;b&gt;hello&lt;/b&gt;", "[Output] | Max diff: 2.5e-07 | Mean diff: 1e-09",
        "Max diff: nan", "1 not as expected", "[Ring]: one rank"}) {
    INFO(part);
    CHECK(contains(page, part));
  }
  CHECK_FALSE(contains(page, "<figure"));
}

TEST_CASE("with a timeline, the page has its drawing; one that cannot be drawn is refused") {
  nlohmann::json run = a_run();
  const nlohmann::json arrow = {0, 1, 0.0, 1e-5, "", "\"><script>", 0, false};
  const nlohmann::json clock = {{"title", "model time"},
                                {"boxes", nlohmann::json::array()},
                                {"path", nlohmann::json::array()},
                                {"marks", nlohmann::json::array()},
                                {"arrows", nlohmann::json::array({arrow})}};
  run["timeline"] = {{"title", "2 ranks"},
                     {"ranks", 2},
                     {"legend", nlohmann::json::array()},
                     {"clocks", nlohmann::json::array({clock})}};
  const std::string page = run_page(run.dump(), "r.json");
  CHECK(contains(page, "<figure class=\"timeline\" tabindex=\"0\"><svg"));
  CHECK(contains(page, "<title>&quot;&gt;&lt;script&gt;; 0 to 10 µs, takes 10 µs</title>"));
  CHECK_FALSE(contains(page, "\"><script>"));
  run["timeline"]["ranks"] = 1;
  CHECK_THROWS_WITH_AS(run_page(run.dump(), "r.json"), doctest::Contains("timeline '2 ranks': rank 1 of 1"),
                       UsageError);
}

TEST_CASE("a run that failed says why; what is not a run is refused, with the file's name") {
  nlohmann::json run = a_run();
  run["error"] = "rank 1 failed: <x>";
  run["ranks"][0]["error"] = "deadlock";
  const std::string page = run_page(run.dump(), "r.json");
  CHECK(contains(page, "rank 1 failed: &lt;x&gt;"));
  CHECK(contains(page, "deadlock"));
  for (const char* text : {"", "[]", "{}", "{\"program\": 1}", "\xff"})
    CHECK_THROWS_WITH_AS(run_page(text, "r.json"), doctest::Contains("r.json: expected a run as `LAB --json FILE`"),
                         UsageError);
}

}  // namespace
}  // namespace lab::page
