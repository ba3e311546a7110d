#include "common/course/hand_in/hand_in_names.h"
#include "common/testing/plain_test.h"
#include "grading/submission/file_names.h"
#include "grading/submission/results_folder.h"
#include "grading/submission/tests/sample_labs.h"

namespace lab::grading {
namespace {

using lab::testing::read_bytes;
using lab::testing::TemporaryFolder;
using testing::a5;
using testing::a9;
using testing::both_labs;
using Strings = std::vector<std::string>;

TEST_CASE("misnamed files: the same name elsewhere, in another case, or nearly") {
  const std::vector<std::string> missing = {"student/allgather/ring.cpp", "student/allreduce/ring.cpp",
                                            "student/broadcast/flat.cpp", "written.md"};
  CHECK(meant_file("student/Ring.cpp", missing).value_or("") == "student/allgather/ring.cpp");
  CHECK(meant_file("student/allredcue/ring.cpp", missing).value_or("") == "student/allreduce/ring.cpp");
  CHECK(meant_file("flat.cpp", missing).value_or("") == "student/broadcast/flat.cpp");
  CHECK(meant_file("answers/Written.md", missing).value_or("") == "written.md");
  CHECK(meant_file("writen.md", missing).value_or("") == "written.md");
  CHECK_FALSE(meant_file("cases.cpp", missing).has_value());
  CHECK_FALSE(meant_file("flat.cpp", {}).has_value());
  CHECK(meant_file(std::string(10000, 'x') + "/flat.cpp", missing).value_or("") == "student/broadcast/flat.cpp");
  CHECK_FALSE(meant_file(std::string(100000, 'x'), {std::string(100000, 'y')}).has_value());
}

TEST_CASE("hand-in names: folders are resolved, and what may replace an answer is known") {
  const HandInNames names = hand_in_names(a9().rubric, a9().student_files);
  CHECK(names.sources == Strings{"student/allgather/ring.cpp", "student/broadcast/flat.cpp"});
  CHECK(names.answers == Strings{"drawing.png", "written.md"});
  CHECK(names.also == Strings{"drawing.pdf"});
  CHECK((names.is_answer("drawing.pdf") && names.is_answer("written.md") && !names.is_answer("other.md")));
}

TEST_CASE("hand-in names: a missing answer may be replaced by one of another kind, and by nothing else") {
  const Rubric a9_rubric = a9().rubric;
  CHECK(missing_answers(a9_rubric, {}) == Strings{"drawing.png", "written.md"});
  CHECK(missing_answers(a9_rubric, {"drawing.pdf", "written.md"}).empty());
  CHECK(missing_answers(a9_rubric, {"drawing.png", "written.md"}).empty());
  // A picture that belongs to the text does not replace it.
  CHECK(missing_answers(a5().rubric, {"sketch.png"}) == Strings{"a5_answers.md"});
}

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
