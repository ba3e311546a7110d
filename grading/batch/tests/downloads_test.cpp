// Downloads as platforms leave them, one below each heading of downloads.txt: what it holds, and what comes of it. No
// code runs: a hand-in's marks stand in it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "common/api/errors.h"
#include "common/base/text.h"
#include "common/testing/archive_builder.h"
#include "common/testing/plain_test.h"
#include "common/testing/texts.h"
#include "grading/batch/class_folder.h"
#include "grading/batch/class_marks.h"
#include "grading/batch/csv.h"
#include "grading/batch/gradebook_import.h"
#include "grading/submission/results_folder.h"
#include "grading/submission/tests/sample_labs.h"

namespace lab::grading {
namespace {

using lab::testing::ArchiveBuilder;
using lab::testing::TemporaryFolder;
using lab::testing::write_bytes;
using testing::both_labs;
using testing::FileMap;

using Lines = std::vector<std::string>;

/// A case's parts by their headings in brackets; what stands before the first says what it is about.
std::map<std::string, Lines> split_parts(const std::string& text) {
  std::map<std::string, Lines> parts;
  std::string heading;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty() && line.front() == '[' && line.back() == ']') {
      heading = line.substr(1, line.size() - 2);
      parts[heading];
    } else if (!line.empty() && !heading.empty()) {
      parts[heading].emplace_back(line);
    }
  }
  return parts;
}

/// The options that are written as "--lab a9".
std::string option_in(const std::map<std::string, Lines>& parts, const std::string& name) {
  if (parts.count("options") == 0) return "";
  for (const std::string& line : parts.at("options")) {
    if (line.rfind(name + " ", 0) == 0) return line.substr(name.size() + 1);
  }
  return "";
}

std::string read_code(const std::string& marks) {
  return "int marks = " + marks + ";\n";
}

/// The files that "a9=87", "a5=50", "id=s1", "a9=none" stand for, below a folder.
void add_files(const std::string& word, const std::string& below, FileMap& files) {
  const std::string key = word.substr(0, word.find('=')), value = word.substr(key.size() + 1);
  if (key == "id") files["identity.toml"] = fmt::format("name = \"\"\nid = \"{}\"\n", value);
  if (key == "a9" && value == "none") files[below + "a9_collectives/picture.png"] = "picture";
  if (key == "a9" && value == "answers")
    files[below + "a9_collectives/written.md"] = "the answer is 42, as shown above";
  if (key == "a9" && std::isdigit(static_cast<unsigned char>(value.front())) != 0)
    files[below + "a9_collectives/student/broadcast/flat.cpp"] = read_code(value);
  if (key == "bare") files[below + "student/broadcast/flat.cpp"] = read_code(value);
  if (key == "a5") files[below + "a5_pipeline/student/baseline.cpp"] = read_code(value);
}

void write_archive(const std::string& path, ArchiveBuilder::Format format, const Lines& words) {
  FileMap files;
  int place = 0;
  for (const std::string& word : words) {
    const bool is_two = word.rfind("other:", 0) == 0;  // another one's hand-in, in a folder of its own
    add_files(is_two ? word.substr(6) : word, is_two ? fmt::format("other{}/", ++place) : "", files);
  }
  ArchiveBuilder archive(path, format);
  for (const auto& [name, bytes] : files) archive.file(name, bytes);
}

/// "NAME: KIND WORDS": "a9.zip: zip a9=87 id=s1".
void write_entry(const std::string& folder, const std::string& line) {
  static const std::map<std::string, ArchiveBuilder::Format> kFormats = {
      {"zip", ArchiveBuilder::Format::kZip},        {"encrypted", ArchiveBuilder::Format::kEncryptedZip},
      {"tar", ArchiveBuilder::Format::kTar},        {"tar.gz", ArchiveBuilder::Format::kTarGz},
      {"tar.bz2", ArchiveBuilder::Format::kTarBz2}, {"tar.xz", ArchiveBuilder::Format::kTarXz},
      {"tar.zst", ArchiveBuilder::Format::kTarZst}, {"7z", ArchiveBuilder::Format::k7z},
      {"cpio", ArchiveBuilder::Format::kCpio}};
  const std::size_t colon = line.find(": ");
  REQUIRE_MESSAGE(colon != std::string::npos, line);
  const std::string path = folder + "/" + line.substr(0, colon);
  Lines words;
  for (const std::string_view word : split(std::string_view(line).substr(colon + 2), ' ')) words.emplace_back(word);
  const std::string kind = words.front();
  words.erase(words.begin());
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  if (kFormats.count(kind) != 0) {
    write_archive(path, kFormats.at(kind), words);
  } else if (kind == "damaged") {
    write_archive(path, ArchiveBuilder::Format::kZip, {"a9=1"});
    std::filesystem::resize_file(path, 40);
  } else if (kind == "code") {
    write_bytes(path, read_code(words.at(0)));
  } else if (kind == "answers") {  // A5's, with the code in it
    write_bytes(path, fmt::format("# A5\n\n```cpp student/baseline.cpp\n{}```\n", read_code(words.at(0))));
  } else {
    REQUIRE_MESSAGE(kind == "text", line);
    write_bytes(path, fmt::format("{}\n", fmt::join(words, " ")));
  }
}

/// The marks that stand in a hand-in's code: "int marks = 87;", and "87 pending 5".
LabMarks marks_in(const SubmittedLab& lab) {
  LabMarks marks;
  marks.lab = lab.lab;
  marks.total = 100;
  if (lab.sources.empty()) return marks;
  const std::string& code = lab.sources.begin()->second;
  marks.marks = std::stod(code.substr(code.find("= ") + 2));
  marks.pending = code.find("/p") == std::string::npos ? 0 : 5;
  marks.not_judged = code.find("/n") == std::string::npos ? 0 : 5;
  return marks;
}

struct Result {
  Lines marks, import, notes;
  std::string import_file;
  int exit_code = 0;
};

/// What `lab grade-all` does with a download, but for judging.
Result graded(const std::map<std::string, Lines>& parts, const TemporaryFolder& scratch) {
  Result result;
  ClassSource source;
  source.folder = scratch.file("download");
  std::filesystem::create_directories(source.folder);
  for (const std::string& line : parts.at("files")) {
    if (const std::size_t yaml = line.find(": yaml"); yaml != std::string::npos) {
      const std::string path = source.folder + "/" + line.substr(0, yaml);
      std::filesystem::create_directories(std::filesystem::path(path).parent_path());
      write_bytes(path, fmt::format("{}\n", fmt::join(parts.at("submission_metadata.yml"), "\n")));
    } else {
      write_entry(source.folder, line);
    }
  }
  source.only_lab = option_in(parts, "--lab");
  source.names = option_in(parts, "--names");
  source.roster_id = option_in(parts, "--roster-id");
  if (parts.count("roster") != 0) {
    source.roster = scratch.file("roster.csv");
    std::string csv = fmt::format("{}\n", fmt::join(parts.at("roster"), "\n"));
    replace_all(csv, "<tab>", "\t");
    write_bytes(source.roster, csv);
  }
  const std::unique_ptr<Roster> roster = source.read_roster();
  std::vector<std::string> columns, known;
  if (const std::string column = option_in(parts, "--column"); !column.empty()) columns = {column};
  for (const KnownLab& lab : both_labs()) known.push_back(lab.rubric.lab);
  std::unique_ptr<GradebookImport> book;
  if (roster != nullptr) book = std::make_unique<GradebookImport>(*roster, known, columns);

  const ClassFolder folder(source, scratch.file("out"), both_labs(), roster.get());
  result.notes = folder.hand_ins().notes;
  std::vector<Described> described;
  REQUIRE_FALSE(folder.describe_all(
      2, [](const Submission& one) { return json_text(scan(one)); }, described));
  std::vector<ScannedHandIn> scanned;
  for (const Described& one : described) {
    scanned.push_back(one.text.empty() ? ScannedHandIn() : from_json_text<ScannedHandIn>(one.text, "a hand-in"));
    scanned.back().problem = one.problem;
  }
  const ClassPlan plan = plan_class(
      folder.hand_ins(), scanned, roster.get(),
      [&](const HandIn& one, const Identity& identity) { return results_name(one.path, identity, both_labs()); });
  std::vector<MarkedStudent> students = list_students(plan, roster.get());
  std::set<std::string> labs;
  for (const PlannedHandIn& one : plan.hand_ins) {
    if (one.labs.empty()) continue;
    for (const SubmittedLab& lab : folder.read(one.hand_in).labs) {
      if (std::find(one.labs.begin(), one.labs.end(), lab.lab) == one.labs.end()) continue;
      labs.insert(lab.lab);
      for (MarkedStudent& student : students) {
        if (student.who == one.who && student.handed_in.count(lab.lab) != 0) student.labs[lab.lab] = marks_in(lab);
      }
    }
  }
  if (book != nullptr) {
    const GradebookImport::Result import = book->of(students, {labs.begin(), labs.end()}, false);
    for (const auto& [place, why] : import.not_filled_in) students[place].open.push_back(why);
    result.notes.insert(result.notes.end(), import.notes.begin(), import.notes.end());
    if (import.is_unclear) result.exit_code = 8;
    if (!import.csv.empty()) {
      result.import_file = book->file();
      result.import = Lines();
      for (const std::string_view line : split(import.csv, '\n')) {
        if (!line.empty()) result.import.emplace_back(line);
      }
    }
  }
  for (const MarkedStudent& student : students) {
    std::string line = find_id(roster.get(), student) + (roster != nullptr && !student.roster_row ? " (?)" : "") + ":";
    for (const auto& [lab, marks] : student.labs)
      line += fmt::format(" {}={}", lab.substr(0, lab.find('_')), marks.marks);
    if (!student.open.empty()) line += fmt::format("; open: {}", fmt::join(student.open, "; "));
    if (!student.remarks.empty()) line += fmt::format("; {}", fmt::join(student.remarks, "; "));
    replace_all(line, scratch.file(""), "");
    result.marks.push_back(line);
    if (!student.open.empty()) result.exit_code = 8;
  }
  if (!folder.hand_ins().lost.empty()) result.exit_code = 8;
  return result;
}

void check_case(const std::string& name, const std::string& text) {
  CAPTURE(name);
  const std::map<std::string, Lines> parts = split_parts(text);
  const TemporaryFolder scratch;
  if (parts.count("refused") != 0) {
    std::string message = "it was not refused";
    try {
      graded(parts, scratch);
    } catch (const UsageError& error) {
      message = error.what();
    }
    replace_all(message, scratch.file(""), "");
    CHECK(message == fmt::format("{}", fmt::join(parts.at("refused"), "\n")));
    return;
  }
  const Result result = graded(parts, scratch);
  CHECK(fmt::format("{}", fmt::join(result.marks, "\n")) == fmt::format("{}", fmt::join(parts.at("marks"), "\n")));
  for (const std::string file : {"canvas.csv", "moodle.csv"}) {
    const bool is_expected = parts.count(file) != 0;
    CHECK((result.import_file == file) == is_expected);
    if (is_expected && result.import_file == file)
      CHECK(fmt::format("{}", fmt::join(result.import, "\n")) == fmt::format("{}", fmt::join(parts.at(file), "\n")));
  }
  if (parts.count("notes") != 0)
    CHECK(fmt::format("{}", fmt::join(result.notes, "\n")) == fmt::format("{}", fmt::join(parts.at("notes"), "\n")));
  CHECK(std::to_string(result.exit_code) == parts.at("exit code").at(0));
}

TEST_CASE("downloads as platforms leave them: whose marks go where, and why some do not") {
  const char* const suite = std::getenv("LAB_SOURCE_DIR");
  REQUIRE_MESSAGE(suite != nullptr, "LAB_SOURCE_DIR: where the sources are");
  const auto cases = lab::testing::read_texts(std::string(suite) + "/grading/batch/tests/downloads.txt");
  for (const auto& [name, text] : cases) check_case(name, text);
  CHECK(cases.size() >= 42);
}

}  // namespace
}  // namespace lab::grading
