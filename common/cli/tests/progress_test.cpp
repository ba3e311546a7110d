#include "common/cli/progress.h"

#include <vector>

#include "common/testing/plain_test.h"

namespace {

/// A progress whose clock the test sets and whose output it keeps.
struct Scene {
  double now = 100.0;
  std::vector<std::string> shown;

  lab::cli::ProgressOptions options(std::int64_t total, bool is_terminal) {
    lab::cli::ProgressOptions result;
    result.label = "grading";
    result.total = total;
    result.clock = [this] { return now; };
    result.sink = [this](std::string_view text) { shown.emplace_back(text); };
    result.is_terminal = is_terminal;
    return result;
  }
  /// One step every `seconds`.
  void work(lab::cli::Progress& progress, int steps, double seconds, const std::string& note = "") {
    for (int i = 0; i < steps; ++i) {
      now += seconds;
      progress.advance(1, note);
    }
  }
};

}  // namespace

TEST_CASE("progress: work under two seconds is silent everywhere") {
  for (const bool is_terminal : {true, false}) {
    Scene scene;
    {
      lab::cli::Progress progress(scene.options(100, is_terminal));
      scene.work(progress, 100, 0.0199);
    }
    CHECK(scene.shown.empty());
  }
}

TEST_CASE("progress: a terminal shows one line, redrawn at most ten times a second, ended by a newline") {
  Scene scene;
  {
    lab::cli::Progress progress(scene.options(8, true));
    scene.work(progress, 2, 1.0, "alice");
    REQUIRE(scene.shown.size() == 1);
    CHECK(scene.shown[0] == "\r\x1b[Kgrading [######..................] 2/8, 6 s left: alice");
    scene.work(progress, 1, 0.09);
    CHECK(scene.shown.size() == 1);
    scene.work(progress, 1, 0.02, "a\nb");
    CHECK(scene.shown.size() == 2);
    CHECK(scene.shown[1].find('\n') == std::string::npos);
    scene.work(progress, 4, 0.0);
  }
  CHECK(scene.shown.back() == "\r\x1b[Kgrading [########################] 8/8\n");
}

TEST_CASE("progress: elsewhere a plain line every ten seconds, without control characters") {
  Scene scene;
  {
    lab::cli::Progress progress(scene.options(50, false));
    scene.work(progress, 9, 1.0);
    CHECK(scene.shown.empty());
    scene.work(progress, 1, 1.0, "bob");
    REQUIRE(scene.shown.size() == 1);
    CHECK(scene.shown[0] == "grading: 10 of 50 after 10 s: bob\n");
    scene.work(progress, 12, 1.0);
    CHECK(scene.shown.size() == 2);
  }
  REQUIRE(scene.shown.size() == 3);
  CHECK(scene.shown.back() == "grading: 22 of 50 after 22 s\n");
  for (const std::string& text : scene.shown) {
    CHECK(text.find('\r') == std::string::npos);
    CHECK(text.find('\x1b') == std::string::npos);
  }
}

TEST_CASE("progress: an unknown total is counted, too many steps are harmless, long notes are cut") {
  Scene scene;
  {
    lab::cli::Progress unknown(scene.options(0, true));
    scene.work(unknown, 3, 1.0);
    CHECK(scene.shown.back() == "\r\x1b[Kgrading: 3 after 3 s");
    lab::cli::Progress over(scene.options(1, true));
    scene.work(over, 3, 1.0, std::string(500, 'x'));
    CHECK(scene.shown.back().find("3/1") != std::string::npos);
    CHECK(scene.shown.back().size() <= 4 + 79);
  }
}

TEST_CASE("progress: a sink that throws does not end the program") {
  Scene scene;
  lab::cli::ProgressOptions options = scene.options(2, true);
  int calls = 0;
  options.sink = [&calls](std::string_view) {
    if (++calls > 1) throw 1;
  };
  {
    lab::cli::Progress progress(options);
    scene.work(progress, 1, 3.0);
  }
  CHECK(calls == 2);
}
