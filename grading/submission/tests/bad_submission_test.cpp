#include "common/api/errors.h"
#include "common/course/hand_in/archive.h"
#include "common/testing/plain_test.h"
#include "grading/submission/submission.h"
#include "grading/submission/tests/sample_labs.h"

namespace lab::grading {
namespace {

using lab::testing::TemporaryFolder;
using lab::testing::write_bytes;
using testing::below;
using testing::both_labs;
using testing::FileMap;
using testing::whole_a9;
using testing::written_to;

/// The message about a submission of these files, without the path it begins with.
std::string refused(const FileMap& files, const std::string& only_lab = "") {
  const TemporaryFolder temporary;
  const std::string path = written_to(temporary, "sub", files);
  try {
    read_submission(path, both_labs(), only_lab);
  } catch (const UsageError& error) {
    const std::string message = error.what();
    return message.rfind(path, 0) == 0 ? message.substr(path.size()) : message;
  }
  return "accepted";
}

TEST_CASE("bad submission: no lab in it") {
  CHECK(refused({{"essay.txt", "x"}, {"src/main.cpp", "x"}}) ==
        ": no lab is in it; expected a folder a5_pipeline, a9_collectives at the top or in one folder around it, got "
        "'essay.txt', 'src'; where a lab's own files stand at the top, name it with --lab");
  CHECK(refused(whole_a9()).find("name it with --lab") != std::string::npos);
  CHECK(refused({{"essay.txt", "x"}}, "a9") ==
        ": no lab is in it; expected a folder a9_collectives at the top or in one folder around it, got 'essay.txt'");
}

TEST_CASE("bad submission: a misspelt folder") {
  CHECK(refused(below("a9_colectives/", whole_a9())).find("got 'a9_colectives' (is it 'a9_collectives'?)") !=
        std::string::npos);
}

TEST_CASE("bad submission: a whole class in one folder") {
  FileMap files = below("smith/a9_collectives/", whole_a9());
  files.merge(below("jones/a9_collectives/", whole_a9()));
  CHECK(refused(files) ==
        ": holds more than one submission, in 'jones/', 'smith/'; expected one: grade each by itself");
}

TEST_CASE("bad submission: a lab that does not exist") {
  CHECK(refused(whole_a9(), "a8").find("unknown lab 'a8'; did you mean 'a5'?") == 0);
  CHECK(refused(whole_a9(), "a9_colectives").find("did you mean 'a9_collectives'?") != std::string::npos);
}

TEST_CASE("bad submission: nothing there, an empty folder, no archive, no lab's markdown") {
  const TemporaryFolder temporary;
  CHECK_THROWS_AS(read_submission(temporary.file("missing.zip"), both_labs()), UsageError);
  CHECK_THROWS_AS(read_submission(temporary.file("missing.md"), both_labs()), UsageError);
  CHECK_THROWS_AS(read_submission(temporary.file(""), both_labs()), UsageError);
  write_bytes(temporary.file("broken.zip"), "PK\x03\x04 and no more");
  CHECK_THROWS_AS(read_submission(temporary.file("broken.zip"), both_labs()), UsageError);
  write_bytes(temporary.file("README.md"), "words");
  CHECK_THROWS_AS(read_submission(temporary.file("README.md"), both_labs()), UsageError);
}

TEST_CASE("bad submission: what a student can have broken is told from what a grader got wrong") {
  const TemporaryFolder temporary;
  const auto unreadable = [&](const std::string& path, const std::string& only_lab = "") {
    try {
      read_submission(path, both_labs(), only_lab);
    } catch (const UnreadableSubmission&) {
      return true;
    } catch (const UsageError&) {
    }
    return false;
  };
  write_bytes(temporary.file("broken.zip"), "PK\x03\x04 and no more");
  CHECK(unreadable(temporary.file("broken.zip")));
  write_bytes(temporary.file("essay.docx"), "no archive");
  CHECK(unreadable(temporary.file("essay.docx"), "a9"));
  const std::string folder = written_to(temporary, "sub", {{"essay.txt", "x"}});
  CHECK(unreadable(folder, "a9"));
  CHECK_FALSE(unreadable(folder));
  CHECK_FALSE(unreadable(temporary.file("missing.zip"), "a9"));
  CHECK_FALSE(unreadable(temporary.file("broken.zip.missing")));
}

TEST_CASE("bad submission: the lab that it was to be is the one that was asked for, or that its name says") {
  const auto find_lab_name = [](const std::string& path, const std::string& only_lab) {
    const std::vector<KnownLab> labs = both_labs();
    const KnownLab* lab = lab_meant_by(path, labs, only_lab);
    return lab == nullptr ? "none" : lab->rubric.lab;
  };
  CHECK(find_lab_name("x/alice.zip", "a9") == "a9_collectives");
  CHECK(find_lab_name("x/A5_PIPELINE.ZIP", "") == "a5_pipeline");
  CHECK(find_lab_name("x/alice.zip", "") == "none");
  CHECK_THROWS_AS(find_lab_name("x.zip", "a8"), UsageError);
}

TEST_CASE("bad submission: a lab's folder without any of its files, or a note in place of answers") {
  CHECK(refused({{"a9_collectives/picture.png", "x"}}).find(": holds none of the files of a9_collectives: missing: ") ==
        0);
  FileMap one_of_two = below("a9_collectives/", whole_a9());
  one_of_two["a5_pipeline/picture.png"] = "x";
  CHECK(refused(one_of_two) == "accepted");
  const TemporaryFolder temporary;
  write_bytes(temporary.file("notes.md"), "# To do\n");
  CHECK_THROWS_AS(read_submission(temporary.file("notes.md"), both_labs(), "a5"), UnreadableSubmission);
  write_bytes(temporary.file("a5_answers.md"), "# Answers alone\n");
  CHECK(read_submission(temporary.file("a5_answers.md"), both_labs(), "a5").labs.size() == 1);
}

TEST_CASE("bad submission: what the archive left out is said, and the rest is taken") {
  const TemporaryFolder temporary;
  const std::string path = written_to(temporary, "sub", below("a9_collectives/", whole_a9()));
  std::filesystem::create_symlink("/etc/passwd", path + "/a9_collectives/student/link.cpp");
  const Submission submission = read_submission(path, both_labs());
  CHECK(submission.labs[0].sources.size() == 2);
  REQUIRE(submission.notes.size() == 1);
  CHECK(submission.notes[0].find("link") != std::string::npos);
}

}  // namespace
}  // namespace lab::grading
