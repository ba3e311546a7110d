#include "grading/submission/submitted_lab.h"

#include "common/testing/plain_test.h"
#include "grading/submission/tests/sample_labs.h"

namespace lab::grading {
namespace {

using testing::a5;
using testing::a9;
using testing::FileMap;
using testing::whole_a9;
using Strings = std::vector<std::string>;

TEST_CASE("hand-in: nothing at all") {
  const SubmittedLab lab = take_lab(a9(), {});
  CHECK(lab.sources.empty());
  CHECK(lab.answers.empty());
  CHECK(lab.notes == Strings{"missing: 'student/allgather/ring.cpp', 'student/broadcast/flat.cpp', 'drawing.png', "
                             "'written.md'"});
}

TEST_CASE("hand-in: a missing file is named, and the rest is taken") {
  FileMap files = whole_a9();
  files.erase("student/broadcast/flat.cpp");
  const SubmittedLab lab = take_lab(a9(), files);
  CHECK(lab.sources.size() == 1);
  CHECK(lab.notes == Strings{"missing: 'student/broadcast/flat.cpp'"});
}

TEST_CASE("hand-in: a file that may take another's place") {
  FileMap files = whole_a9();
  files.erase("drawing.png");
  files["drawing.pdf"] = "%PDF";
  const SubmittedLab lab = take_lab(a9(), files);
  CHECK(lab.notes == Strings{});
  CHECK(lab.answers.count("drawing.pdf") == 1);
}

TEST_CASE("hand-in: further files are not taken, also not next to the student's own") {
  FileMap files = whole_a9();
  files["student/not_asked_for.cpp"] = "x";
  files["student/broadcast/helper.h"] = "x";
  files["cases.cpp"] = "x";
  const SubmittedLab lab = take_lab(a9(), files);
  CHECK(lab.sources.size() == 2);
  CHECK(lab.notes == Strings{"not used, as the hand-in does not ask for it: 'cases.cpp', 'student/broadcast/helper.h', "
                             "'student/not_asked_for.cpp'"});
}

TEST_CASE("hand-in: files that were handed out are counted, and are not taken for misnamed ones") {
  KnownLab lab = a9();
  lab.other_files = {"cases.cpp", "writen.md"};
  const SubmittedLab taken =
      take_lab(lab, {{"cases.cpp", "x"}, {"writen.md", "x"}, {"student/broadcast/flat.cpp", "x"}});
  CHECK(taken.sources.size() == 1);
  CHECK(taken.notes == Strings{"missing: 'student/allgather/ring.cpp', 'drawing.png', 'written.md'",
                               "2 files that were handed out are there, too, and are not used"});
}

TEST_CASE("hand-in: of many further files ten are named") {
  FileMap files = whole_a9();
  for (int i = 10; i < 40; ++i) files["f" + std::to_string(i)] = "x";
  const SubmittedLab lab = take_lab(a9(), files);
  REQUIRE(lab.notes.size() == 1);
  CHECK(lab.notes[0] ==
        "not used, as the hand-in does not ask for it: 'f10', 'f11', 'f12', 'f13', 'f14', 'f15', 'f16', 'f17', 'f18', "
        "'f19' and 20 more");
}

TEST_CASE("hand-in: a wrong name, and what it is probably meant to be") {
  FileMap files = whole_a9();
  files.erase("student/allgather/ring.cpp");
  files.erase("written.md");
  files["student/Ring.cpp"] = "x";
  files["writen.md"] = "x";
  const SubmittedLab lab = take_lab(a9(), files);
  CHECK(lab.sources.size() == 1);
  CHECK(lab.notes == Strings{"'student/Ring.cpp' is not used; is it meant to be 'student/allgather/ring.cpp'?",
                             "'writen.md' is not used; is it meant to be 'written.md'?",
                             "missing: 'student/allgather/ring.cpp', 'written.md'"});
}

TEST_CASE("hand-in: files of no use count as missing, and are named once") {
  FileMap files = whole_a9();
  files["student/allgather/ring.cpp"] = std::string("i\0nt", 4);
  files["student/broadcast/flat.cpp"] = "";
  files["written.md"] = std::string("caf\0", 4);
  const SubmittedLab lab = take_lab(a9(), files);
  CHECK(lab.sources.empty());
  CHECK(lab.answers.count("written.md") == 0);
  CHECK(lab.answers.count("drawing.png") == 1);
  CHECK(lab.notes == Strings{"'student/allgather/ring.cpp' is not text; expected UTF-8; it counts as missing",
                             "'student/broadcast/flat.cpp' is empty; it counts as missing",
                             "'written.md' is not text; expected UTF-8; it counts as missing"});
}

TEST_CASE("hand-in: text in another encoding is taken, with a note") {
  FileMap files = whole_a9();
  files["student/allgather/ring.cpp"] = std::string("i\0n\0t\0;\0", 8);
  files["student/broadcast/flat.cpp"] = "int flat;  // na\xEFve\n";
  files["written.md"] =
      "\xEF\xBB\xBF"
      "20\n";
  const SubmittedLab lab = take_lab(a9(), files);
  CHECK(lab.sources == FileMap{{"student/allgather/ring.cpp", "int;"},
                               {"student/broadcast/flat.cpp", "int flat;  // na\xC3\xAFve\n"}});
  CHECK(lab.answers.at("written.md") == "20\n");
  CHECK(lab.notes == Strings{"'student/allgather/ring.cpp' is UTF-16; it was converted to UTF-8",
                             "'student/broadcast/flat.cpp' is Latin-1; it was converted to UTF-8",
                             "'written.md' is UTF-8 with a byte order mark; it was converted to UTF-8"});
}

TEST_CASE("hand-in: an untouched template counts as missing, and the code in it is taken") {
  KnownLab known = a5();
  known.templates["a5_answers.md"] = "# A5\n\nWhich seed, and why:\n\n```cpp student/baseline.cpp\n```\n";
  const std::string code = "\n```cpp student/baseline.cpp\nint x;\n```\n";
  const SubmittedLab untouched = take_lab(known, {{"a5_answers.md", "# A5\n\nWhich seed, and why: x\n" + code}});
  CHECK(untouched.answers.empty());
  CHECK(untouched.sources.size() == 1);
  CHECK(untouched.notes == Strings{"'a5_answers.md' is still the untouched template; it counts as missing"});
  const SubmittedLab written =
      take_lab(known, {{"a5_answers.md", "# A5\n\nWhich seed, and why: the same on all ranks\n" + code}});
  CHECK(written.answers.size() == 1);
  CHECK(written.notes == Strings{});
}

TEST_CASE("hand-in: code in the markdown follows the same rules") {
  const auto taken = [](const std::string& markdown) { return take_lab(a5(), {{"a5_answers.md", markdown}}); };
  const SubmittedLab other = taken("```cpp student/Baseline.cpp\nint x;\n```\n");
  CHECK(other.sources.empty());
  CHECK(other.notes == Strings{"'student/Baseline.cpp' is not used; is it meant to be 'student/baseline.cpp'?",
                               "missing: 'student/baseline.cpp'"});
  const SubmittedLab open = taken("```cpp student/baseline.cpp\nint x;\n");
  CHECK(open.sources.empty());
  CHECK(open.answers.size() == 1);
  REQUIRE(open.notes.size() == 2);
  CHECK(open.notes[0].find("its code is not read: ") == 0);
  CHECK(open.notes[1] == "missing: 'student/baseline.cpp'");
  const SubmittedLab unnamed = taken("```cpp\nint x;\n```\n");
  REQUIRE(unnamed.notes.size() == 2);
  CHECK(
      unnamed.notes[0] ==
      "the code in 'a5_answers.md' is not read, as its blocks do not name their files; expected blocks that begin with "
      "```cpp student/baseline.cpp");
  const SubmittedLab none = taken("only words\n");
  CHECK(none.notes == Strings{"missing: 'student/baseline.cpp'"});
}

}  // namespace
}  // namespace lab::grading
