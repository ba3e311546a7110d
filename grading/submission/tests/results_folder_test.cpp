#include "grading/submission/results_folder.h"

#include "common/testing/plain_test.h"
#include "grading/submission/tests/sample_labs.h"

namespace lab::grading {
namespace {

using lab::testing::read_bytes;
using lab::testing::TemporaryFolder;
using testing::both_labs;

std::string folder_for(const std::string& submission, const Identity& identity = {}) {
  return results_folder("out", submission, identity, both_labs());
}

TEST_CASE("results folder: by the identity, then by what was handed in") {
  CHECK(folder_for("x/alice.zip", {"Ada Lovelace", "s1"}) == "out/s1");
  CHECK(folder_for("x/alice.zip", {"Ada", ""}) == "out/Ada");
  CHECK(folder_for("x/alice.zip") == "out/alice");
  CHECK(folder_for("x/alice.tar.gz") == "out/alice");
  CHECK(folder_for("x/alice/") == "out/alice");
  CHECK(folder_for("x/alice.b.zip") == "out/alice.b");
}

TEST_CASE("results folder: two students' equal file names do not collide") {
  for (const char* name : {"a9_collectives.zip", "a9.zip", "a5_answers.md", "submission.zip", "written.md"}) {
    INFO(name);
    CHECK(folder_for("x/alice/" + std::string(name)) == "out/alice");
    CHECK(folder_for("x/bob/" + std::string(name)) == "out/bob");
    CHECK(folder_for("x/bob/submission/" + std::string(name)) == "out/bob");
  }
}

TEST_CASE("results folder: no name leads out of it, and different names stay different") {
  const std::string up = folder_for("x.zip", {"", "../../etc"});
  CHECK(up.find("out/_.") == 0);
  CHECK(up.find('/', 4) == std::string::npos);
  CHECK(folder_for("x.zip", {"", "a b"}) != folder_for("x.zip", {"", "a_b"}));
  CHECK(folder_for("x.zip", {"", std::string(500, 'x') + "1"}) !=
        folder_for("x.zip", {"", std::string(500, 'x') + "2"}));
}

TEST_CASE("results folder: another student's results are not replaced") {
  const TemporaryFolder base;
  const Identity ada = {"Ada", "s1"}, bob = {"Bob", "s1"};
  const auto get_folder = [&](const std::string& submission, const Identity& identity) {
    return results_folder(base.file("out"), submission, identity, both_labs());
  };
  const std::string first = get_folder("ada.zip", ada);
  keep_owner(first, "ada.zip", ada);
  CHECK(get_folder("later/ada2.zip", ada) == first);
  const std::string other = get_folder("bob.zip", bob);
  CHECK(other != first);
  keep_owner(other, "bob.zip", bob);
  CHECK(get_folder("bob.zip", bob) == other);
  CHECK(get_folder("ada.zip", ada) == first);
  CHECK(get_folder("s1.zip", {}) != first);  // a file of that name, by an unknown author
  CHECK(read_bytes(first + "/identity.toml") == "name = \"Ada\"\nid = \"s1\"\n# from ada.zip\n");
}

}  // namespace
}  // namespace lab::grading
