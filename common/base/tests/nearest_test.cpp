#include "common/base/text.h"
#include "common/testing/plain_test.h"

TEST_CASE("edit distance: insertions, deletions, replacements and swaps of neighbours") {
  CHECK(lab::edit_distance("", "") == 0);
  CHECK(lab::edit_distance("abc", "abc") == 0);
  CHECK(lab::edit_distance("", "abc") == 3);
  CHECK(lab::edit_distance("abc", "") == 3);
  CHECK(lab::edit_distance("kitten", "sitting") == 3);
  CHECK(lab::edit_distance("nproc", "nporc") == 1);
}

TEST_CASE("nearest: the closest candidate, or none when all are far") {
  const std::vector<std::string> names = {"--nproc", "--world", "--seed", "--save"};
  CHECK(lab::nearest("--nprocs", names).value_or("") == "--nproc");
  CHECK(lab::nearest("--sede", names).value_or("") == "--seed");
  CHECK(lab::nearest("--wrold", names).value_or("") == "--world");
  CHECK_FALSE(lab::nearest("--frobnicate", names).has_value());
  CHECK_FALSE(lab::nearest("x", {}).has_value());
}
