#include "grading/submission/submission.h"

#include <algorithm>
#include <cstdlib>

#include "common/api/errors.h"
#include "common/course/hand_in/archive.h"
#include "common/testing/plain_test.h"
#include "grading/submission/tests/sample_labs.h"

namespace lab::grading {
namespace {

using lab::testing::TemporaryFolder;
using lab::testing::write_bytes;
using testing::a9;
using testing::below;
using testing::both_labs;
using testing::FileMap;
using testing::whole_a9;
using testing::written_to;
using Strings = std::vector<std::string>;

const std::string kA9 = "a9_collectives/";

/// A submission of these files, as a folder.
Submission get_folder(const FileMap& files, const std::string& only_lab = "", const std::string& name = "sub") {
  const TemporaryFolder temporary;
  return read_submission(written_to(temporary, name, files), both_labs(), only_lab);
}

void check_whole_a9(const Submission& submission) {
  REQUIRE(submission.labs.size() == 1);
  const SubmittedLab& lab = submission.labs[0];
  CHECK(lab.lab == "a9_collectives");
  CHECK(lab.notes == Strings{});
  CHECK(lab.sources ==
        FileMap{{"student/allgather/ring.cpp", "int ring;\n"}, {"student/broadcast/flat.cpp", "int flat;\n"}});
  CHECK(lab.answers == FileMap{{"drawing.png", std::string("\x89PNG\0", 5)}, {"written.md", "20\n"}});
}

TEST_CASE("submission: a lab's folder at the top") {
  const Submission submission = get_folder(below(kA9, whole_a9()));
  check_whole_a9(submission);
  CHECK(submission.notes == Strings{});
}

TEST_CASE("submission: an archive is the same as a folder") {
  const TemporaryFolder temporary;
  write_zip(temporary.file("smith.zip"), below(kA9, whole_a9()));
  check_whole_a9(read_submission(temporary.file("smith.zip"), both_labs()));
}

TEST_CASE("submission: in one folder around it, which is noted") {
  FileMap files = below("hw/" + kA9, whole_a9());
  files["hw/notes.txt"] = "x";
  files["ReadMe.txt"] = "x";
  const Submission submission = get_folder(files);
  check_whole_a9(submission);
  CHECK(submission.notes == Strings{"everything is taken from inside the folder 'hw'",
                                    "not used, as no lab asks for it: 'ReadMe.txt', 'hw/notes.txt'"});
}

TEST_CASE("submission: a whole student tree, with both labs in the order in which they are known") {
  FileMap files = below(kA9, whole_a9());
  files["a5_pipeline/student/baseline.cpp"] = "int a5;\n";
  files["a5_pipeline/README.md"] = "x";
  files["common/api/errors.h"] = "x";
  files["CMakeLists.txt"] = "x";
  const Submission submission = get_folder(files);
  REQUIRE(submission.labs.size() == 2);
  CHECK(submission.labs[0].lab == "a5_pipeline");
  CHECK(submission.labs[0].sources == FileMap{{"student/baseline.cpp", "int a5;\n"}});
  CHECK(submission.labs[1].notes == Strings{});
  CHECK(submission.notes == Strings{"not used, as no lab asks for it: 'CMakeLists.txt', 'common'"});
}

TEST_CASE("submission: only the lab that is asked for") {
  FileMap files = below(kA9, whole_a9());
  files["a5_pipeline/student/baseline.cpp"] = "int a5;\n";
  for (const char* name : {"a9", "a9_collectives"}) {
    const Submission submission = get_folder(files, name);
    check_whole_a9(submission);
    CHECK(submission.notes == Strings{});
  }
}

TEST_CASE("submission: a lab's own files at the top, where it is said which lab it is") {
  check_whole_a9(get_folder(whole_a9(), "a9"));
  check_whole_a9(get_folder(whole_a9(), "", "a9_collectives"));
  check_whole_a9(get_folder(whole_a9(), "", "a9"));
  check_whole_a9(get_folder(below("hw/", whole_a9()), "a9"));
  check_whole_a9(get_folder(below("a9/", whole_a9())));
  const TemporaryFolder temporary;
  check_whole_a9(read_submission(written_to(temporary, "a9", whole_a9()) + "/", both_labs()));
  write_zip(temporary.file("a9.zip"), whole_a9());
  check_whole_a9(read_submission(temporary.file("a9.zip"), both_labs()));
}

TEST_CASE("submission: a lab asked for is not found in another lab's folder") {
  CHECK_THROWS_AS(get_folder(below(kA9, whole_a9()), "a5"), UsageError);
  CHECK_THROWS_AS(get_folder(whole_a9(), "a5", "a9"), UsageError);
}

const std::string kMarkdown = "# A5\n\nwords\n\n```cpp student/baseline.cpp\nint baseline;\n```\n";

TEST_CASE("submission: A5 is one markdown, and its code is in it") {
  const TemporaryFolder temporary;
  write_bytes(temporary.file("a5_answers.md"), kMarkdown);
  for (const char* only_lab : {"", "a5"}) {
    const Submission submission = read_submission(temporary.file("a5_answers.md"), both_labs(), only_lab);
    REQUIRE(submission.labs.size() == 1);
    CHECK(submission.labs[0].lab == "a5_pipeline");
    CHECK(submission.labs[0].notes == Strings{});
    CHECK(submission.labs[0].sources == FileMap{{"student/baseline.cpp", "int baseline;\n"}});
    CHECK(submission.labs[0].answers == FileMap{{"a5_answers.md", kMarkdown}});
  }
}

TEST_CASE("submission: a single markdown of another name, where it is said which lab it is") {
  const TemporaryFolder temporary;
  write_bytes(temporary.file("smith.md"), kMarkdown);
  const Submission submission = read_submission(temporary.file("smith.md"), both_labs(), "a5");
  REQUIRE(submission.labs.size() == 1);
  CHECK(submission.labs[0].sources.size() == 1);
  CHECK(submission.notes == Strings{"'smith.md' is taken for 'a5_answers.md'"});
  CHECK_THROWS_AS(read_submission(temporary.file("smith.md"), both_labs()), UsageError);
}

TEST_CASE("submission: it may say whose it is, next to the labs or at the end of a markdown") {
  const std::string toml = to_toml({"Ada", "s1"});
  FileMap files = below(kA9, whole_a9());
  CHECK(get_folder(files).identity.empty());  // packed by hand
  for (const char* folder : {"", "a9_collectives/"}) {
    FileMap with_identity = files;
    with_identity[folder + std::string("identity.toml")] = toml;
    const Submission submission = get_folder(with_identity);
    check_whole_a9(submission);
    CHECK(submission.notes == Strings{});
    CHECK(submission.identity.id == "s1");
  }
  FileMap around = below("hw/" + kA9, whole_a9());
  around["hw/identity.toml"] = toml;
  CHECK(get_folder(around).identity.name == "Ada");
  FileMap bare = whole_a9();
  bare["identity.toml"] = toml;
  check_whole_a9(get_folder(bare, "a9"));
  FileMap tree = files;
  tree[".lab-identity"] = toml;
  CHECK(get_folder(tree).identity.id == "s1");

  const TemporaryFolder temporary;
  write_bytes(temporary.file("a5_answers.md"), lab::with_identity(kMarkdown, {"Ada", "s1"}));
  const Submission markdown = read_submission(temporary.file("a5_answers.md"), both_labs());
  CHECK(markdown.identity.id == "s1");
  CHECK(markdown.labs[0].answers == FileMap{{"a5_answers.md", kMarkdown}});
}

TEST_CASE("submission: an identity that cannot be read is noted, and nothing is lost by it") {
  FileMap files = below(kA9, whole_a9());
  files["identity.toml"] = "name = Ada\n";
  const Submission submission = get_folder(files);
  check_whole_a9(submission);
  CHECK(submission.identity.empty());
  REQUIRE(submission.notes.size() == 1);
  CHECK(submission.notes[0].find("the identity is not used: identity.toml:1") == 0);
}

TEST_CASE("submission: files in student/ come before the code in the markdown") {
  const Submission submission =
      get_folder({{"a5_pipeline/a5_answers.md", kMarkdown}, {"a5_pipeline/student/baseline.cpp", "int from_file;\n"}});
  CHECK(submission.labs[0].sources == FileMap{{"student/baseline.cpp", "int from_file;\n"}});
}

TEST_CASE("submission: the labs as they are know their files") {
  const char* source_dir = std::getenv("LAB_SOURCE_DIR");
  REQUIRE_MESSAGE(source_dir != nullptr, "LAB_SOURCE_DIR: where the sources are");
  const std::string folder = std::string(source_dir) + "/a9_collectives";
  const KnownLab lab = known_lab(load_rubric(folder + "/rubric.toml"), folder);
  CHECK(std::find(lab.student_files.begin(), lab.student_files.end(), "student/broadcast/flat.cpp") !=
        lab.student_files.end());
  // A student's whole folder is a submission.
  const Submission submission = read_submission(folder, {lab});
  REQUIRE(submission.labs.size() == 1);
  CHECK(submission.labs[0].sources.size() == lab.student_files.size());
  CHECK(submission.labs[0].notes.back() ==
        std::to_string(lab.other_files.size()) + " files that were handed out are there, too, and are not used");
  CHECK_THROWS_AS(known_lab(lab.rubric, source_dir + std::string("/common")), UsageError);
}

TEST_CASE("taken files: sources are text of a bearable size") {
  CHECK(take_source("int x;  // \xC3\xA4\r\n").bytes == "int x;  // \xC3\xA4\r\n");
  CHECK(take_source(std::string(1U << 20, ' ')).fault.empty());
  CHECK(take_source(std::string((1U << 20) + 1, ' ')).fault == "is 1 MiB, expected at most 1 MiB");
  CHECK(take_source(std::string(3U << 20, ' ')).fault == "is 3 MiB, expected at most 1 MiB");
  CHECK(take_source("").fault == "is empty");
  CHECK(take_source(std::string("\x7F"
                                "ELF\0",
                                5))
            .fault == "is not text; expected UTF-8");
}

TEST_CASE("taken files: text in another encoding is converted with a note, and not refused") {
  const TakenFile latin = take_source("// na\xEFve\nint x;\n");
  CHECK(latin.bytes == "// na\xC3\xAFve\nint x;\n");
  CHECK(latin.fault.empty());
  CHECK(latin.note == "is Latin-1; it was converted to UTF-8");
  CHECK(take_source("\xEF\xBB\xBFint x;\n").bytes == "int x;\n");
  const TakenFile utf16 = take_answer("a.log", std::string("\xFF\xFE"
                                                           "o\0k\0",
                                                           6));
  CHECK(utf16.bytes == "ok");
  CHECK(utf16.note == "is UTF-16; it was converted to UTF-8");
}

TEST_CASE("taken files: answers are text where their name says so") {
  const std::string png("\x89PNG\0", 5);
  CHECK(take_answer("q7.png", png).bytes == png);
  CHECK(take_answer("q7.png", png).note.empty());
  CHECK(take_answer("q7.png", "").fault == "is empty");
  CHECK(take_answer("a4.log", "").fault == "is empty");
  CHECK(take_answer("a4.err", "").fault.empty());  // of a successful run
  for (const char* name : {"a.md", "a.txt", "a.log", "a.err"}) {
    CHECK(take_answer(name, "words\n").bytes == "words\n");
    CHECK(take_answer(name, png).fault == "is not text; expected UTF-8");
  }
}

}  // namespace
}  // namespace lab::grading
