#include "common/bench/limited_program.h"

#include "common/base/errors.h"
#include "common/testing/plain_test.h"

TEST_CASE("limited program: reports how it ended, with its own message without the frame") {
  CHECK(lab::run_limited({"true"}, 60).well());
  CHECK(lab::run_limited({"true"}, 60).last_words.empty());
  const lab::ProgramEnd end = lab::run_limited(
      {"sh", "-c", "printf -- '--------------------\\nno slots\\n  left\\n------------\\n' >&2; echo unheard; exit 3"},
      60);
  CHECK_FALSE(end.well());
  CHECK(end.exit_code == 3);
  CHECK(end.last_words == "no slots left");
  CHECK(end.message() == "ended with exit code 3: no slots left");
}

TEST_CASE("limited program: a long message is truncated") {
  const lab::ProgramEnd end = lab::run_limited({"sh", "-c", "printf %4000s x | tr ' ' y >&2"}, 60);
  CHECK(end.last_words.size() == 304);
}

TEST_CASE("limited program: one that does not end is stopped") {
  const lab::ProgramEnd end = lab::run_limited({"sh", "-c", "echo waiting >&2; exec sleep 3600"}, 1);
  CHECK(end.timed_out);
  CHECK_FALSE(end.well());
  CHECK(end.exit_code == 128 + 15);
  CHECK(end.message() == "timed out: waiting");
}

TEST_CASE("limited program: a missing program is refused") {
  CHECK_THROWS_AS(lab::run_limited({"no-such-program-here"}, 60), lab::UsageError);
}
